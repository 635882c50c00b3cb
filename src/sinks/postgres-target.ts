/**
 * A table of PostgreSQL: one row per item, known by run, task and number, so that the same row again changes nothing.
 * What the database refuses goes into a second table, `<table>_rejected`, under the same key.
 */
import postgres from 'postgres';
import { Failure, messageOf } from '../domain/failure.ts';
import type { PostgresSink } from '../domain/sink.ts';
import type { Rejected, SinkRow } from './row.ts';
import type { SinkTarget } from './target.ts';

const WRITE_LIMITS = { rows: 1_000, bytes: 4 * 1024 * 1024 };
const CONNECT_MAX_SECONDS = 10;
const STATEMENT_MAX_MS = 60_000;
const CLOSE_MAX_SECONDS = 2;

/** `name` or `schema.name`, of what needs no escapes. */
export const TABLE = /^([A-Za-z_]\w{0,50}\.)?[A-Za-z_]\w{0,50}$/;

export function createPostgresTarget(spec: PostgresSink & { readonly name: string }): SinkTarget {
  const table = quote(spec.table);
  const rejectedTable = quote(`${spec.table}_rejected`);
  let sql: postgres.Sql | undefined;

  return {
    limits: WRITE_LIMITS,
    remembers: 'keys',
    async open() {
      await close();
      sql = connect(spec);
      await ask(tableSql(table, 'jsonb not null', ''));
      await ask(tableSql(rejectedTable, 'text', ', seq bigint, problem text not null'));
      return undefined;
    },
    async write(rows, { signal }) {
      await ask(insertSql(table), [`[${rows.map(renderParameter).join(',')}]`], signal);
    },
    async putAside(rejected) {
      if (rejected.length > 0)
        await ask(asideSql(rejectedTable), [JSON.stringify(rejected.map(asideParameter))]);
    },
    commit: () => Promise.resolve(),
    startOver: () => Promise.resolve(),
    close,
  };

  async function close(): Promise<void> {
    const closing = sql;
    sql = undefined;
    await closing?.end({ timeout: CLOSE_MAX_SECONDS }).catch(() => undefined);
  }

  async function ask(text: string, parameters: string[] = [], signal?: AbortSignal): Promise<void> {
    if (!sql) throw new Failure('INTERNAL', 'the table is not open');
    const query = sql.unsafe(text, parameters);
    // A server that is there and says nothing would be waited for without end.
    let cut = (): void => undefined;
    const tooLong = new Promise<never>((_, reject) => {
      const timer = setTimeout(
        () => reject(new Failure('TIMEOUT', `no answer within ${STATEMENT_MAX_MS} ms`)),
        STATEMENT_MAX_MS,
      );
      const stop = (): void => reject(new Failure('CANCELLED', 'stopping'));
      signal?.addEventListener('abort', stop, { once: true });
      cut = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
      };
    });
    try {
      await Promise.race([query, tooLong]);
    } catch (error) {
      query.catch(() => undefined);
      throw explain(error);
    } finally {
      cut();
    }
  }
}

function connect({ url, password, name }: PostgresSink & { readonly name: string }): postgres.Sql {
  return postgres(url.reveal(), {
    max: 1,
    connect_timeout: CONNECT_MAX_SECONDS,
    onnotice: () => undefined,
    connection: { application_name: `trawl sink ${name}`, statement_timeout: STATEMENT_MAX_MS },
    ...(password && { password: password.reveal() }),
  });
}

/** As text: of the conversion of each value, the server's is the one that counts. */
function renderParameter({ run, task, n, kind, scraper, url, at, json }: SinkRow): string {
  const head = JSON.stringify({ run, task_id: task, n, kind, scraper, url, at });
  return `${head.slice(0, -1)},"item":${json}}`;
}

function asideParameter({ seq, n = -1, run = '', task, row, problem }: Rejected): object {
  const { kind, scraper = '', url, at, json } = row ?? {};
  return { run, task_id: task ?? String(seq), n, kind, scraper, url, at, item: json, seq, problem };
}

function tableSql(name: string, item: string, more: string): string {
  return `create table if not exists ${name} (run text not null, task_id text not null, n integer not null, kind text,
    scraper text not null, url text, item ${item}, at timestamptz${more}, primary key (run, task_id, n))`;
}

const COLUMNS = 'run, task_id, n, kind, scraper, url, item, at';
const SET =
  'kind = excluded.kind, scraper = excluded.scraper, url = excluded.url, item = excluded.item, at = excluded.at';

function insertSql(name: string): string {
  return `insert into ${name} (${COLUMNS})
    select run, task_id, n, kind, scraper, url, coalesce(item, 'null'), at from jsonb_to_recordset($1::text::jsonb)
      as r(run text, task_id text, n integer, kind text, scraper text, url text, item jsonb, at timestamptz)
    on conflict (run, task_id, n) do update set ${SET}`;
}

function asideSql(name: string): string {
  return `insert into ${name} (${COLUMNS}, seq, problem)
    select ${COLUMNS}, seq, problem from json_to_recordset($1::text::json)
      as r(run text, task_id text, n integer, kind text, scraper text, url text, item text, at timestamptz, seq bigint, problem text)
    on conflict (run, task_id, n) do update set ${SET}, seq = excluded.seq, problem = excluded.problem`;
}

function quote(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');
}

/** Data exception, constraint, too large for the server, raised by a trigger: these rows will never be taken. */
const REFUSALS = /^(22|23|54|P0)/;

function explain(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const said = messageOf(error);
  if (error instanceof postgres.PostgresError && REFUSALS.test(code))
    return new Failure('REJECTED', `the database refuses it: ${said}`, { cause: error });
  return new Failure('UNAVAILABLE', `PostgreSQL: ${said || code}`, { cause: error });
}
