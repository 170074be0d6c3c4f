/** Returns a table with columns as wide as Prettier makes them. The first row is the header. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  return [...rows.slice(0, 1), widths.map((width) => '-'.repeat(width)), ...rows.slice(1)].map(lineOf).join('');
}
