/** Fetches one page and says what it is. `npx trawl submit page https://example.com/` */
const TITLE = /<title[^>]*>([^<]*)<\/title>/i;

export const scraper = {
  name: 'page',
  mode: 'distributed',
  async run({ url, fetch, emit }) {
    const page = await fetch(url);
    const title = TITLE.exec(page.text())?.[1]?.trim();
    emit({ url: page.url, status: page.status, title, bytes: page.body.length, egress: page.egress });
  },
};
