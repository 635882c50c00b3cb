/** A scraper that does nothing, at once: for benches, tests and a first look. Emits `input.items` if there are any. */
import type { Scraper } from './scraper.ts';

export const noop: Scraper = {
  name: 'noop',
  mode: 'distributed',
  async run(context) {
    const { items } = context.input;
    if (Array.isArray(items)) for (const item of items) context.emit(item);
  },
};
