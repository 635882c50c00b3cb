/** What an actor that must be alone asks for: run this while I lead, and tell me when I no longer do. */
export interface Term {
  /** Aborts when the lead is lost or the actor stops; what is still under way must not act any more. */
  readonly over: AbortSignal;
}

/** Campaigns until `quiet`, and runs `work` in each term. Resolves when the last term is over and released. */
export type Lead = (quiet: AbortSignal, work: (term: Term) => Promise<void>) => Promise<void>;
