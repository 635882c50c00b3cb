/** URLs into a table by `INSERT … ON CONFLICT DO NOTHING`, a thousand in each statement. */
import pg from 'pg';
import { inChunks, urls } from './counting.mjs';

export async function open({ url }) {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined); // the server ends before this process does
  return {
    async submit({ list, count }) {
      await pool.query(
        `create table if not exists "${list}" (url text primary key, state text not null default 'queued', created_at timestamptz not null default now())`,
      );
      let added = 0;
      await inChunks(urls(0, count), 1_000, 4, async (chunk) => {
        const sql = `insert into "${list}" (url) select unnest($1::text[]) on conflict (url) do nothing`;
        const { rowCount } = await pool.query(sql, [chunk]);
        added += rowCount;
      });
      const { rows } = await pool.query(`select count(*)::int as queued from "${list}"`);
      return { added, queued: rows[0].queued };
    },
    async clear({ list }) {
      await pool.query(`drop table "${list}"`);
    },
  };
}
