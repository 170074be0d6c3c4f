declare global {
  interface JSON {
    /** ECMAScript 2026; writes the text as it is. */
    rawJSON(text: string): object;
  }
}

/** JSON for programs: identifiers are exact integers, absent values null. */
export function toJson(value: unknown): string {
  const exact = (_key: string, member: unknown) => (typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member);
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** Left-aligned columns for people. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** To the second; the tool shows all times in UTC. */
export function toText(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
