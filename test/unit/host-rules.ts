import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHostRules, readHostRules } from '../../src/config/host-rules.ts';
import { limitsByRules } from '../../src/domain/host-rules.ts';
import { NO_HOST_LIMITS } from '../../src/policy/egress/limits.ts';
import { projectRoot } from '../../src/project-root.ts';
import { temporaryFolder } from '../kit/nats-server.ts';

const TEXT = `
"*":
  delay: 100ms
  jitter: 25
"*.shop.example":
  delay: 2s
  egressDelay: 5s
  concurrency: 4
www.shop.example:
  perHour: 1000
  perMinute: 60
  egressPerHour: 50
  egressPerMinute: 5
Api.Shop.Example:8080:
  delay: 0
`;

t.test('every limit can be set, and the closest rule has the last word', async (t) => {
  const { rules, problems } = parseHostRules(TEXT, 'hosts.yaml');
  t.same(problems, []);
  const limits = (host: string): object => limitsByRules(host, { defaults: NO_HOST_LIMITS, rules });
  const everywhere = { ...NO_HOST_LIMITS, delayMs: 100, jitter: 0.25 };
  t.same(limits('other.example'), everywhere);
  t.same(limits('shop.example'), everywhere, '*. is what is below');
  t.same(limits('a.shop.example'), { ...everywhere, delayMs: 2_000, egressDelayMs: 5_000, concurrency: 4 });
  t.same(limits('www.shop.example'), {
    ...{ perHour: 1_000, perMinute: 60, delayMs: 2_000, egressDelayMs: 5_000, jitter: 0.25, concurrency: 4 },
    egressCaps: { perHour: 50, perMinute: 5 },
  });
  t.match(limits('api.shop.example=8080'), { delayMs: 0 });
  t.match(limits('notshop.example'), everywhere);
});

t.test('all that is wrong is told, by line', async (t) => {
  const { problems } = parseHostRules(
    'a.example:\n  concurency: 2\n  delay: soon\n  concurrency: -1\nnot a host:\n  delay: 1s\nb.example: 5\n',
    'hosts.yaml',
  );
  t.match(problems, [
    /^hosts.yaml:2:3: concurency is not a limit of a host; did you mean concurrency\?$/,
    /^hosts.yaml:3:10: delay must be a duration/,
    /^hosts.yaml:4:16: concurrency must be a whole number/,
    /^hosts.yaml:5:1: this is not a host/,
    /^hosts.yaml:7:1: the limits of b.example must be/,
  ]);
  t.match(parseHostRules('a: [', 'h').problems, [/^h:1: this is not valid YAML/]);
  t.match(parseHostRules('- a\n', 'h').problems, [/^h:1:1: the file must hold/]);
  t.same(parseHostRules('# nothing\n', 'h'), { rules: [], problems: [] });
});

t.test('the file is read, or the reason told', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'good.yaml'), TEXT);
  writeFileSync(join(folder, 'bad.yaml'), 'x.example:\n  delay: 1\n  speed: 1\n');
  t.equal(readHostRules('good.yaml', folder).length, 4);
  t.throws(() => readHostRules('bad.yaml', folder), {
    code: 'INVALID',
    message: /bad.yaml:3:3: speed is not/,
  });
  t.throws(() => readHostRules('none.yaml', folder), { code: 'INVALID', message: /ENOENT/ });
});

t.test('the example names every limit, and is right', async (t) => {
  const example = readFileSync(join(projectRoot, 'config/hosts.yaml'), 'utf8');
  t.same(parseHostRules(example, 'config/hosts.yaml'), { rules: [], problems: [] });
  const shown = example.slice(example.indexOf('# "*.example.com"')).replaceAll(/^# ?/gm, '');
  const { rules, problems } = parseHostRules(shown, 'config/hosts.yaml');
  t.same(problems, []);
  t.same(Object.keys(rules[0]?.limits ?? {}).sort(), Object.keys(NO_HOST_LIMITS).sort());
});
