/** The time for which an actor that must be alone leads. */
export interface Term {
  /** Aborts when the lead is lost or the actor stops; what is still under way must not act any more. */
  readonly over: AbortSignal;
}
