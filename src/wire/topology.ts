/** The streams, buckets and consumers of one cluster, from the definitions in `nats/`. */
import type { Names } from './names.ts';

/** A definition as the nats CLI takes it: snake_case, nanoseconds. */
export type Settings = Readonly<Record<string, unknown>>;

export interface StreamDefinition {
  readonly name: string;
  readonly settings: Settings;
}

export interface ConsumerDefinition {
  readonly stream: string;
  readonly name: string;
  readonly settings: Settings;
}

export interface Topology {
  readonly streams: readonly StreamDefinition[]; // buckets too: a bucket is a stream
  readonly consumers: readonly ConsumerDefinition[];
}

/** The definitions as files hold them: in the default namespace, one replica. */
export interface TopologyFiles {
  readonly streams: readonly Settings[];
  readonly consumers: readonly { readonly stream: string; readonly settings: Settings }[];
}

export function planTopology(files: TopologyFiles, options: { names: Names; replicas: number }): Topology {
  const { names, replicas } = options;
  return {
    streams: files.streams.map((settings) => ({
      name: names.localize(textOf(settings, 'name')),
      settings: {
        ...settings,
        name: names.localize(textOf(settings, 'name')),
        subjects: listOf(settings, 'subjects').map((subject) => names.localize(subject)),
        num_replicas: replicas,
      },
    })),
    consumers: files.consumers.map(({ stream, settings }) => ({
      stream: names.localize(stream),
      name: textOf(settings, 'durable_name'),
      settings:
        settings['filter_subject'] === undefined
          ? settings
          : { ...settings, filter_subject: names.localize(textOf(settings, 'filter_subject')) },
    })),
  };
}

function textOf(settings: Settings, key: string): string {
  const value = settings[key];
  if (typeof value !== 'string') throw new Error(`a definition in nats/ has no ${key}`);
  return value;
}

function listOf(settings: Settings, key: string): string[] {
  const value = settings[key];
  return Array.isArray(value) ? value.map(String) : [];
}
