/**
 * Who has a story now? Each check goes through a proxy that is signed in: a session is one proxy with its cookies, and the two are
 * never mixed. How often a proxy may be used (50 times an hour) is a setting of the cluster; a batch is a run, and the
 * next one starts when the one before it has ended.
 */
import { defineScraper, Failure } from 'trawl';
import * as v from 'valibot';

const SITE = process.env['STORIES_URL'] ?? 'http://127.0.0.1:8088';
const USER = process.env['STORIES_USER'] ?? 'demo';
const PASSWORD = process.env['STORIES_PASSWORD'] ?? 'demo';
/** Between two requests through the same proxy, and up to half as long again. */
const DELAY_MS = Number(process.env['STORIES_DELAY_MS'] ?? 2000);

export default defineScraper({
  name: 'check_story',
  mode: 'distributed',
  timeout: '2m',
  robots: false,
  input: v.object({ username: v.pipe(v.string(), v.minLength(1)) }),
  item: v.object({ username: v.string(), has_story: v.boolean(), stories: v.number() }),
  egress: { via: 'proxy', whenNone: 'wait', select: 'lru', session: true },
  limits: { egressDelayMs: DELAY_MS, jitter: 0.5 },
  isSessionValid: (session) => session.cookie('sid', SITE) !== undefined,
  async refreshSession({ fetch }) {
    const form = new URLSearchParams({ csrf: 'c5rf', user: USER, password: PASSWORD });
    await fetch(`${SITE}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      maxRedirects: 0,
      accept: [303],
    });
  },
  // A page that is no answer is a block in disguise: tried again through another proxy.
  validate: (page) => page.text().includes('has_story') || 'it does not say whether there is a story',
  async run(context) {
    const { username } = context.input;
    const page = await context.fetch(`${SITE}/api/session/stories/${username}`, { accept: [200, 401] });
    if (page.status === 401) {
      context.session?.invalidate(); // the next task signs in again
      throw new Failure('BLOCKED', 'the site has signed this session out');
    }
    const { has_story, stories } = page.json();
    context.emit({ username, has_story, stories: stories.length });
  },
});
