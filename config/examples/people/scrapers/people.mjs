/** Two kinds of task with what each must be given: a profile, and the followers of somebody. */
import { defineScraper } from 'trawl';
import * as v from 'valibot';

const API = process.env['PEOPLE_URL'] ?? 'http://127.0.0.1:8088/api';
const FOLLOWERS_PER_PAGE = 50;

const username = v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'letters, digits, dots and dashes'));

/** Opened once per worker and closed when it ends, whatever became of its tasks. */
const client = {
  setup: ({ log }) => ({ log, asked: 0 }),
  teardown: ({ log, asked }) => log.info('people.closed', { asked }),
};

const ask = ({ json, shared }, path) => {
  shared.asked += 1;
  return json(`${API}/${path}`);
};

const profile = defineScraper({
  name: 'scrape_profile',
  mode: 'distributed',
  input: v.object({ username }),
  item: v.looseObject({ username: v.string(), followers: v.number() }),
  ...client,
  async run(context) {
    context.emit('profile', await ask(context, `profile/${context.input.username}`));
  },
});

const followers = defineScraper({
  name: 'scrape_followers',
  mode: 'distributed',
  input: v.object({
    username,
    limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000)), 1000),
  }),
  ...client,
  async run(context) {
    const { input, emit, progress } = context;
    let offset = 0;
    let found = 0;
    while (found < input.limit) {
      const limit = Math.min(FOLLOWERS_PER_PAGE, input.limit - found);
      const page = await ask(context, `followers/${input.username}?offset=${offset}&limit=${limit}`);
      for (const follower of page.followers) emit('follower', { of: input.username, ...follower });
      found += page.followers.length;
      if (page.next_offset === null) break;
      offset = page.next_offset;
      progress();
    }
    return { username: input.username, found };
  },
});

export const scrapers = [profile, followers];
