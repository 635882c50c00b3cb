/** Bytes become text. */
import t from 'tap';
import { decodeText, findCharset } from '../../src/policy/decode-text.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

t.test('where the charset comes from', async (t) => {
  const table: readonly (readonly [string, Buffer, string | undefined, string, string])[] = [
    ['a mark before all', Buffer.from('\ufeffgrün'), 'text/html; charset=latin1', 'utf-8', 'bom'],
    ['utf-16le by mark', Buffer.from('\ufeffgrün', 'utf16le'), undefined, 'utf-16le', 'bom'],
    ['header', latin('gr\xfcn'), 'text/html; charset=ISO-8859-1', 'iso-8859-1', 'header'],
    ['header in quotes', latin('gr\xfcn'), 'text/html;charset="windows-1252"; x=y', 'windows-1252', 'header'],
    [
      'header before page',
      latin('<meta charset=utf-8>gr\xfcn'),
      'text/html; charset=latin1',
      'latin1',
      'header',
    ],
    ['meta', latin('<html><meta charset="iso-8859-2">\xb1'), 'text/html', 'iso-8859-2', 'page'],
    [
      'the old meta',
      latin('<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">'),
      undefined,
      'shift_jis',
      'page',
    ],
    [
      'xml',
      latin('<?xml version="1.0" encoding="windows-1251"?><a>\xe4</a>'),
      'text/xml',
      'windows-1251',
      'page',
    ],
    ['a meta that says utf-16', latin('<meta charset=utf-16>x'), undefined, 'utf-8', 'page'],
    [
      'an unknown label in the header',
      latin('<meta charset=utf-8>x'),
      'text/html; charset=klingon',
      'utf-8',
      'page',
    ],
    ['nothing, and it is utf-8', Buffer.from('grün'), 'text/html', 'utf-8', 'guess'],
    [
      'nothing, and it is cut within a letter',
      Buffer.from('grü').subarray(0, 3),
      undefined,
      'utf-8',
      'guess',
    ],
    ['nothing, and it is not', latin('gr\xfcn'), 'text/html', 'windows-1252', 'guess'],
    [
      'a meta too late',
      latin(`${' '.repeat(1024)}<meta charset=iso-8859-2>\xfc`),
      undefined,
      'windows-1252',
      'guess',
    ],
    ['empty', Buffer.alloc(0), undefined, 'utf-8', 'guess'],
  ];
  for (const [name, body, contentType, label, from] of table) {
    t.same(findCharset(body, contentType), { label, from }, name);
  }
});

t.test('text', async (t) => {
  t.equal(decodeText(latin('gr\xfcn'), undefined), 'grün');
  t.equal(decodeText(Buffer.from('\ufeffgrün'), undefined), 'grün', 'the mark is not part of the text');
  t.equal(decodeText(Buffer.from('82b182f1', 'hex'), 'text/plain; charset=Shift_JIS'), 'こん');
  t.equal(
    decodeText(Buffer.from([0x67, 0xff, 0x67]), 'text/html; charset=utf-8'),
    'g\ufffdg',
    'bad bytes are marked',
  );
  t.equal(
    decodeText(latin('\x80'), 'text/html; charset=iso-8859-1'),
    '€',
    'latin1 is windows-1252, as in browsers',
  );
});

t.test('made-up labels are not collected', async (t) => {
  for (let i = 0; i < 1000; i += 1) {
    t.equal(findCharset(Buffer.from('x'), `text/html; charset=x-${i}`).label, 'utf-8');
  }
});
