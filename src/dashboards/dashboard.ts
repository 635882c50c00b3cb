/** What a dashboard is before it becomes Grafana's JSON: rows of panels, each of which asks Prometheus something. */

/** Units by Grafana's ids. */
export type Unit =
  'short' | 's' | 'bytes' | 'Bps' | 'ops' | 'reqps' | 'percentunit' | 'bool' | 'dateTimeAsIso';

export interface Query {
  readonly expr: string;
  /** Name of a line; labels in double braces. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly kind: 'lines' | 'stack' | 'number' | 'table';
  readonly unit: Unit;
  /** Of 24. */
  readonly width: number;
  readonly queries: readonly Query[];
  /** From where on a value is a warning, and from where on it is bad. */
  readonly limits?: { readonly warning: number; readonly bad: number };
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A choice at the top of the dashboard, from the values that a label has. */
export interface Choice {
  readonly name: string;
  readonly title: string;
  readonly series: string;
  readonly label: string;
}

export interface Dashboard {
  /** Name of its file, without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly choices?: readonly Choice[];
  readonly rows: readonly Row[];
}

type Draft = Omit<Panel, 'kind' | 'width' | 'description'> & { description?: string; width?: number };

const panelOf =
  (kind: Panel['kind'], usualWidth: number) =>
  ({ description = '', width = usualWidth, ...rest }: Draft): Panel => ({
    kind,
    description,
    width,
    ...rest,
  });

export const lines = panelOf('lines', 12);
export const stack = panelOf('stack', 12);
export const table = panelOf('table', 12);
export const number = panelOf('number', 4);
