/** What the local cluster tells whoever waits for it, while it starts and stops. */
export type Step =
  | 'fetching' // a nats-server is looked for, or brought
  | 'waiting' // somebody else works on this cluster
  | 'cleaning' // what a crash left behind goes away
  | 'starting'
  | 'stopping'
  | 'ready';

export interface Progress {
  readonly step: Step;
  /** For people: a clause without a full stop. */
  readonly text: string;
}

export type Report = (progress: Progress) => void;
