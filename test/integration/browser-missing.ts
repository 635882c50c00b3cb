/** What the browser engine says when something that it needs is not there. */
import t from 'tap';
import { findChromium } from '../../src/browser/find-chromium.ts';
import { CAN_SANDBOX, needChromium, startBrowser } from '../kit/chromium.ts';

t.test('no playwright-core, no Chromium', async (t) => {
  const load = (): Promise<never> => Promise.reject(new Error('Cannot find package'));
  const { open, engine } = startBrowser(t, process.execPath, { load });
  await t.rejects(open('http://site.example/'), { code: 'INTERNAL', hint: 'npm install playwright-core' });
  t.match(engine.stats(), { pages: 0, isRunning: false });
  await t.rejects(findChromium(undefined, ['/nowhere/a']), { code: 'INTERNAL', hint: /browser\.path/ });
  t.equal(await findChromium(undefined, ['/nowhere/a', process.execPath]), process.execPath);
});

const path = needChromium(t);
if (path !== undefined && !CAN_SANDBOX) {
  t.test('root, who cannot have the sandbox, is told so', async (t) => {
    const { open } = startBrowser(t, path, { sandbox: true });
    await t.rejects(open('http://site.example/'), { code: 'INTERNAL', hint: /browser\.sandbox/ });
  });
}
