/** Text in the charsets of the old web. Node only decodes them, so the way back is looked up in what it decodes. */
const LATIN = 'Crème brûlée, naïve façade';
const CYRILLIC = 'Съешь ещё этих мягких булок';
const JAPANESE = '日本語のページ、こんにちは';

/** Charsets that the site can speak, each with a text that needs it. */
export const CHARSET_SAMPLES = {
  'utf-8': `${LATIN}; ${CYRILLIC}; ${JAPANESE}; 🚲`,
  'utf-16le': `${LATIN}; ${CYRILLIC}`,
  'utf-16be': `${LATIN}; ${CYRILLIC}`,
  'iso-8859-1': LATIN,
  'iso-8859-2': 'Příliš žluťoučký kůň',
  'windows-1252': `“${LATIN}” – 5 €`,
  'windows-1251': CYRILLIC,
  'koi8-r': CYRILLIC,
  shift_jis: JAPANESE,
  'euc-jp': JAPANESE,
  gbk: '你好，世界',
  big5: '你好，世界',
  'euc-kr': '안녕하세요 세계',
} as const;
export type Charset = keyof typeof CHARSET_SAMPLES;

/** 0x80 to 0x9f of windows-1252: some versions of Node decode them as iso-8859-1 (nodejs/node#56542). */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const tables = new Map<Charset, ReadonlyMap<string, Buffer>>();

export function isCharset(name: string): name is Charset {
  return Object.hasOwn(CHARSET_SAMPLES, name);
}

export function encodeText(text: string, charset: Charset): Buffer {
  if (charset === 'utf-8') return Buffer.from(text);
  if (charset === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (charset === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  const table = tables.get(charset) ?? makeTable(charset);
  tables.set(charset, table);
  return Buffer.concat(Array.from(text, (character) => table.get(character) ?? Buffer.from('?')));
}

function makeTable(charset: Charset): ReadonlyMap<string, Buffer> {
  const table = new Map<string, Buffer>();
  const decoder = new TextDecoder(charset);
  const offer = (...bytes: number[]): void => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if (Array.from(text).length === 1 && text !== '\ufffd' && !table.has(text))
      table.set(text, Buffer.from(bytes));
  };
  if (charset === 'windows-1252') {
    for (const [index, character] of Array.from(WINDOWS_1252).entries()) {
      table.set(character, Buffer.from([0x80 + index]));
    }
  }
  for (let byte = 0; byte < 0x100; byte += 1) offer(byte);
  for (let lead = 0x81; lead < 0xff; lead += 1) {
    for (let trail = 0x40; trail < 0xff; trail += 1) offer(lead, trail);
  }
  return table;
}
