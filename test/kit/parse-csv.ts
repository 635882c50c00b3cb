/** Reads CSV as RFC 4180 has it, with a header: rows by the names of their columns. */
export function parseCsv(text: string): Record<string, string>[] {
  const [header = [], ...rows] = recordsOf(text);
  return rows.map((row) => Object.fromEntries(header.map((name, column) => [name, row[column] ?? ''])));
}

function recordsOf(text: string): string[][] {
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy;
  const records: string[][] = [];
  let record: string[] = [];
  let read = 0;
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    const [, raw = '', end] = match;
    read = cell.lastIndex;
    record.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  if (read !== text.length)
    throw new Error(`no CSV from character ${read} on: ${text.slice(read, read + 40)}`);
  return records;
}
