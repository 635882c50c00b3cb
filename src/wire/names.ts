/** Every subject, stream, bucket and key that crosses NATS, spelled once. */

export const STREAMS = ['INTAKE', 'TASKS', 'LEDGER', 'SCHEDULES', 'EVENTS', 'BLOBS'] as const;
export type StreamName = (typeof STREAMS)[number];

export const BUCKETS = ['cluster', 'egress'] as const;
export type BucketName = (typeof BUCKETS)[number];

export const DEFAULT_NAMESPACE = 'trawl';

/** What may stand between two dots of a subject: ids, scraper and run names, namespaces. */
export const TOKEN = /^[A-Za-z0-9_-]{1,64}$/;

export interface Names {
  readonly namespace: string;
  stream(name: StreamName): string;
  bucket(name: BucketName): string;
  /** Adds the namespace to a subject or stream name as the definitions in `nats/` spell it. */
  localize(definition: string): string;
  /** Where to submit tasks of a scraper: into a run, or into the scraper's standing run. */
  submit(scraper: string, run?: string): string;
  task(task: { priority: number; scraper: string; run: string; id: string }): string;
  /** The same in the lanes of its scraper alone, where only workers stand that have it. */
  only(task: { priority: number; scraper: string; run: string; id: string }): string;
  /** Where ready tasks of any priority lie: every place of one, or with `*` of a run, or of all; of any scraper, or of one. */
  ready(task: { run: string; id: string; scraper?: string | undefined }): readonly string[];
  /** A task that waits for its time. */
  delay(task: { run: string; id: string }): string;
  /** A task that is held back until somebody lets it go on. */
  parked(task: { run: string; id: string }): string;
  /** The one record of a task; `*` for all of a run, or of all runs. */
  ledger(run: string, id: string): string;
  /** Marks a dead task, so that dead ones are found without looking at the others. */
  dead(run: string, id: string): string;
  /** How much one writer has changed in a run. */
  count(run: string, writer: string): string;
  /** What the page budget of a scraper has granted in a run: a page, or how many. */
  page(run: string, scope: string, mark: string): string;
  /** A piece of what a task emitted and one record does not hold. */
  blob(task: { run: string; id: string }, upload: string, piece: string): string;
  schedule(name: string): string;
  due(name: string): string;
  event(about: string, kind: string): string;
  /** A request that any coordinator answers. */
  service(verb: string): string;
  /** What all workers hear. */
  broadcast(verb: string): string;
  /** What workers ask of the proxy-manager that leads. */
  egress(verb: string): string;
  /** The mailbox of one actor; the verb is the last token. */
  mailbox(role: string, id: string): string;
}

/**
 * The names of one cluster. The default namespace spells streams and buckets as the definitions do;
 * another one prefixes them, so that two clusters on one NATS do not see each other.
 */
export function createNames(namespace: string): Names {
  const own = namespace === DEFAULT_NAMESPACE;
  const prefixed = (name: string): string => (own ? name : `${namespace}_${name}`);

  return {
    namespace,
    stream: prefixed,
    bucket: prefixed,
    localize,
    submit: (scraper, run) => `${namespace}.submit.${scraper}${run === undefined ? '' : `.${run}`}`,
    task: ({ priority, scraper, run, id }) => `${namespace}.task.${priority}.${scraper}.${run}.${id}`,
    only: ({ priority, scraper, run, id }) => `${namespace}.only.${priority}.${scraper}.${run}.${id}`,
    ready: ({ run, id, scraper = '*' }) =>
      ['task', 'only'].map((place) => `${namespace}.${place}.*.${scraper}.${run}.${id}`),
    delay: ({ run, id }) => `${namespace}.delay.${run}.${id}`,
    parked: ({ run, id }) => `${namespace}.parked.${run}.${id}`,
    ledger: (run, id) => `${namespace}.ledger.${run}.${id}`,
    dead: (run, id) => `${namespace}.dead.${run}.${id}`,
    count: (run, writer) => `${namespace}.count.${run}.${writer}`,
    page: (run, scope, mark) => `${namespace}.page.${run}.${scope}.${mark}`,
    blob: ({ run, id }, upload, piece) => `${namespace}.blob.${run}.${id}.${upload}.${piece}`,
    schedule: (name) => `${namespace}.schedule.${name}`,
    due: (name) => `${namespace}.due.${name}`,
    service: (verb) => `${namespace}.ctl.${verb}`,
    broadcast: (verb) => `${namespace}.all.${verb}`,
    egress: (verb) => `${namespace}.egress.${verb}`,
    event: (about, kind) => `${namespace}.event.${about}.${kind}`,
    mailbox: (role, id) => `${namespace}.ctl.${role}.${id}`,
  };

  function localize(definition: string): string {
    if (definition.startsWith(`${DEFAULT_NAMESPACE}.`))
      return namespace + definition.slice(DEFAULT_NAMESPACE.length);
    const bucket = /^(\$KV\.|KV_)(.*)$/.exec(definition);
    return bucket ? `${bucket[1] ?? ''}${prefixed(bucket[2] ?? '')}` : prefixed(definition);
  }
}

/** Keys inside the buckets. */
export const keys = {
  lock: (name: string): string => `lock.${name}`,
  beat: (role: string, id: string): string => `beat.${role}.${id}`,
  allBeats: 'beat.>',
  run: (id: string): string => `run.${id}`,
  allRuns: 'run.*',
  /** What one life of a worker has in hand, so that others can give it back for it, and nothing of its next life. */
  inHand: ({ id, startedAt }: { id: string; startedAt: number }): string => `hand.${id}.${startedAt}`,
  allInHand: 'hand.*.*',
  /** Dead tasks that somebody is putting back. */
  redrive: (name: string): string => `redrive.${name}`,
  allRedrives: 'redrive.*',
  /** A proxy, in the bucket of the egress; what is sealed about it is sealed under this name. */
  proxy: (id: string): string => `proxy.${id}`,
  session: (id: string): string => `session.${id}`,
  /** How far a sink is, and the wish that it starts over. */
  sink: (name: string): string => `sink.${name}`,
  allSinks: 'sink.*',
  sinkReplay: (name: string): string => `sink-replay.${name}`,
  /** A flag that holds work back: of a run, a scraper, a host, or of everything. */
  pause: (kind: string, name: string): string => `control.pause.${kind}.${name}`,
  allPauses: 'control.pause.>',
  /** How many workers the autoscaler wants. */
  scale: 'control.scale',
  /** Which scrapers have lanes of their own. */
  routes: 'control.routes',
  /** What one life of an actor has counted. */
  tally: (role: string, life: string): string => `tally.${role}.${life}`,
  /** What all lives have counted that are over. */
  tallyPast: 'tally.past',
  allTallies: 'tally.>',
  /** What became of the tasks of runs that were removed. */
  goneRuns: 'gone.runs',
};
