/** The table of settings as a list, each with the names under which it can be given. */
import type { Field } from './field.ts';
import { fields, type FieldPath, type SectionName } from './fields.ts';
import { text } from './parsers.ts';

export interface Setting {
  readonly path: FieldPath;
  readonly section: SectionName;
  /** The last part of the path: the key inside its section. */
  readonly key: string;
  readonly flag: string;
  /** The first that is set wins. */
  readonly env: readonly string[];
  readonly field: Field<unknown>;
}

export const CONFIG_FLAG = 'config';
export const CONFIG_ENV = 'TRAWL_CONFIG';
export const CONFIG_FILE = 'config/trawl.yaml';

export const settings: readonly Setting[] = Object.entries(fields).flatMap(([name, node]) =>
  isField(node)
    ? [describe({ section: 'general', key: name, path: name }, node)]
    : Object.entries<Field<unknown>>(node).map(([key, field]) =>
        describe({ section: name, key, path: `${name}.${key}` }, field),
      ),
);

/** What a setting takes, as a sentence; nothing where any text will do. */
export function describeAllowed({ field }: Setting): string | undefined {
  return field.parser === text ? undefined : `Allowed: ${field.parser.allowed}.`;
}

function isField(node: object): node is Field<unknown> {
  return 'parser' in node;
}

function describe(name: { section: string; key: string; path: string }, field: Field<unknown>): Setting {
  // nats.tlsCa → nats-tls-ca
  const words = name.path.replace('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const variable = `TRAWL_${words.replaceAll('-', '_').toUpperCase()}`;
  return {
    // The names come from the keys of the table, from which these types are made as well.
    path: name.path as FieldPath,
    section: name.section as SectionName,
    key: name.key,
    flag: field.flag ?? words,
    env: field.envAlias === undefined ? [variable] : [variable, field.envAlias],
    field,
  };
}
