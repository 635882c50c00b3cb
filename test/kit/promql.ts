/** Which series and labels an expression of PromQL asks for; enough of its grammar for our own rules and panels. */
export interface Asked {
  readonly series: string;
  /** Labels in its braces. */
  readonly labels: readonly string[];
}

const KEYWORDS = new Set([
  'and',
  'or',
  'unless',
  'by',
  'without',
  'on',
  'ignoring',
  'bool',
  'offset',
  'inf',
  'nan',
]);

export function seriesIn(expr: string): Asked[] {
  const plain = expr
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  return [...plain.matchAll(/([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g)].flatMap(([, name = '', after = '']) => {
    if (after === '(' || KEYWORDS.has(name.toLowerCase())) return [];
    return [
      { series: name, labels: [...after.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label) },
    ];
  });
}

/** What it groups by or leaves out. */
export function groupingsIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
}
