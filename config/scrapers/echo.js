/** The smallest scraper: says what it was asked for. `npx trawl submit echo https://example.com/` */
export const scraper = {
  name: 'echo',
  mode: 'distributed',
  async run({ url, input, attempt, emit }) {
    emit({ url, input, attempt });
  },
};
