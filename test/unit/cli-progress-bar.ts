import t from 'tap';
import {
  createMeter,
  createStatusLine,
  renderBar,
  renderCount,
  renderLeft,
  renderRate,
} from '../../src/cli/progress-bar.ts';

t.test('a bar is full only when it is done', async (t) => {
  const table: [number, string][] = [
    [0, '[··········]   0%'],
    [0.5, '[#####·····]  50%'],
    [0.9999, '[#########·]  99%'],
    [1, '[##########] 100%'],
    [7, '[##########] 100%'],
    [-1, '[··········]   0%'],
    [NaN, '[··········]   0%'],
  ];
  for (const [fraction, bar] of table) t.equal(renderBar(fraction, 10), bar, String(fraction));
});

t.test('counts, rates and the time left', async (t) => {
  t.equal(renderCount(0), '0');
  t.equal(renderCount(999), '999');
  t.equal(renderCount(1_234_567), '1,234,567');
  t.equal(renderRate(0), '0/s');
  t.equal(renderRate(2.34), '2.3/s');
  t.equal(renderRate(36_000), '36,000/s');
  t.equal(renderLeft(7_250, 10), '12m 5s left');
  t.equal(renderLeft(0, 10), '');
  t.equal(renderLeft(10, 0), '', 'no saying');
});

t.test('the rate is that of the last moments', async (t) => {
  const meter = createMeter(1_000);
  t.equal(meter.read(0, 0), 0, 'one reading is no rate');
  t.equal(meter.read(50, 500), 100);
  for (let at = 1_000; at <= 5_000; at += 500) meter.read(50, at);
  t.equal(meter.read(50, 5_500), 0, 'what was long ago does not count');
  t.equal(meter.read(0, 6_000), 0, 'never negative');
});

t.test('the line is written over on a terminal, and only there', async (t) => {
  let now = 0;
  let written = '';
  const terminal = { isTTY: true, columns: 10, write: (text: string) => (written += text) };
  const line = createStatusLine(terminal, () => now);
  line.clear();
  t.equal(written, '', 'nothing to remove');
  line.show('one');
  line.show('too soon');
  line.show('at any rate', { always: true });
  now = 200;
  line.show('wider than the terminal');
  line.clear();
  t.equal(written, '\r\x1b[Kone\r\x1b[Kat any ra\r\x1b[Kwider tha\r\x1b[K');

  written = '';
  const unsized = { isTTY: true, columns: 0, write: (text: string) => (written += text) };
  createStatusLine(unsized).show('a terminal that does not know how wide it is');
  t.equal(written, '\r\x1b[Ka terminal that does not know how wide it is');

  written = '';
  const pipe = createStatusLine({ write: (text) => (written += text) });
  pipe.show('one', { always: true });
  pipe.clear();
  t.equal(written, '');
});
