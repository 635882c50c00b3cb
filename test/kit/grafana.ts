/** The parts of Grafana's JSON that tests look at. */
interface Source {
  readonly type: string;
  readonly uid: string;
}

export interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: Source;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
    readonly datasource: Source;
  }[];
}

export interface GrafanaDashboard {
  readonly title: string;
  readonly tags: readonly string[];
  readonly schemaVersion: number;
  readonly panels: readonly GrafanaPanel[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly definition?: string;
      readonly allValue?: string;
      readonly datasource?: Source;
    }[];
  };
  readonly annotations: {
    readonly list: readonly {
      readonly name: string;
      readonly enable: boolean;
      readonly expr: string;
      readonly datasource: Source;
    }[];
  };
}
