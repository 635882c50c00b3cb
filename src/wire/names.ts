/** Every subject, stream, bucket and key that crosses NATS, spelled once. */

export const STREAMS = ['INTAKE', 'TASKS', 'LEDGER', 'SCHEDULES', 'EVENTS'] as const;
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
  event(about: string, kind: string): string;
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
};
