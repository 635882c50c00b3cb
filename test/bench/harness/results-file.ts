/** RESULTS.md has one section per bench, between two comments; a bench replaces its own and leaves the others alone. */
export function replaceSection(text: string, what: string, section: string): string {
  const [from, to] = [`<!-- bench: ${what} -->`, `<!-- end: ${what} -->`];
  const whole = `${from}\n\n${section}\n\n${to}`;
  const start = text.indexOf(from);
  const end = text.indexOf(to);
  if (start === -1 || end === -1) return `${text.trimEnd()}\n\n${whole}\n`;
  return `${text.slice(0, start)}${whole}${text.slice(end + to.length)}`;
}
