/** How wide a terminal is, as far as it knows: one without a size says 0. */
export function columnsOf({ columns }: { readonly columns?: number }): number | undefined {
  return columns === 0 ? undefined : columns;
}
