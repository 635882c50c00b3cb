import t from 'tap';
import { explainMistake, keepDashes, readWords } from '../../src/cli/words.ts';

t.test('a lone dash comes through, as an argument, in a list, as a value', async (t) => {
  const words = keepDashes(['import', '-', '--urls-file', '-', '--tag', 'a-b', '--', '-x']);
  t.same(words, ['import', ' - ', '--urls-file', ' - ', '--tag', 'a-b', '--', '-x']);
  t.same(readWords({ file: words[1], proxies: [words[1], 'b'], tag: 'a-b', json: false }), {
    ...{ file: '-', tag: 'a-b', json: false },
    proxies: ['-', 'b'],
  });
});

t.test('a run is an argument or an option', async (t) => {
  t.same(readWords({ RUN: 'friday' }), { run: 'friday' });
  t.same(readWords({ run: 'friday' }), { run: 'friday' });
  t.same(readWords({ RUN: 'friday', run: 'friday', by: 'host' }), { run: 'friday', by: 'host' });
  t.same(readWords({}), {});
  t.throws(() => readWords({ RUN: 'friday', run: 'monday' }), {
    code: 'INVALID',
    message: 'one run, please: "friday" or --run "monday"',
  });
  t.throws(() => readWords({ RUN: 'friday', run: ['friday', 'monday'] }), { code: 'INVALID' });
});

t.test('of an unknown option it says which one was meant', async (t) => {
  const hintOf = (message: string, ...words: string[]): string | undefined =>
    explainMistake(message, words, ['priority', 'run', 'json']).hint;
  const how = '`trawl --help` shows how.';
  t.equal(hintOf('Unknown argument: prio', 'submit', '--prio', '3'), how, 'nothing is near enough');
  t.equal(hintOf('Unknown argument: priorty', '--priorty=3'), `Did you mean --priority? ${how}`);
  t.equal(hintOf('Unknown arguments: rn, x', '--rn', '3', '--x'), `Did you mean --run? ${how}`);
  t.equal(hintOf('Unknown argument: runs', 'status', 'runs'), how, 'that was no option');
  t.match(explainMistake('wrong', [], []), { code: 'INVALID', message: 'wrong', hint: how });
});
