/** CSV as RFC 4180 has it. Cells are written as they are: a program that runs them as formulas must not be fed by it. */
export function renderCsvLine(cells: readonly unknown[]): string {
  return `${cells.map(renderCell).join(',')}\r\n`;
}

function renderCell(value: unknown): string {
  const text = textOf(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return stringifyPlain(value);
}

/** JSON of whatever a scraper stored: bytes become base64, numbers beyond JSON become text. */
export function stringifyPlain(value: unknown): string {
  // `JSON.stringify` calls `toJSON` of a Buffer before the replacer sees it, so the original is looked up.
  return JSON.stringify(value, function (this: unknown, key: string, converted: unknown): unknown {
    const original = (this as Readonly<Record<string, unknown>>)[key];
    if (original instanceof Uint8Array) return Buffer.from(original).toString('base64');
    return typeof converted === 'bigint' ? converted.toString() : converted;
  });
}
