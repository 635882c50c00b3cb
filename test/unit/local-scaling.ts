/** How `trawl up` has its autoscaler scale. */
import t from 'tap';
import { scaleLocally } from '../../src/cli/local-cluster.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { RawSettings } from '../../src/config/gather.ts';

function words(flags: RawSettings): string {
  const { config, sources } = loadConfig({ flags, env: {}, cwd: import.meta.dirname });
  return scaleLocally(config, (path) => sources.get(path)?.kind === 'default')
    .map((word) => word.replace('--autoscale-', ''))
    .join(' ');
}

t.test('what people asked for is the least number', async (t) => {
  t.equal(words({}), 'driver process max 20 min 3');
  t.equal(words({ 'local.workers': '8' }), 'driver process max 20 min 8');
  t.equal(words({ 'local.workers': '50' }), 'driver process max 50 min 50');
  t.equal(words({ 'local.workers': '8', 'autoscale.max': '4' }), 'driver process min 4');
  t.equal(words({ 'autoscale.min': '1' }), 'driver process max 20', 'unless they say so');
  t.equal(words({ 'local.workers': '0' }), '', 'who wants none starts them himself');
  t.equal(words({ 'autoscale.driver': 'none' }), '');
});
