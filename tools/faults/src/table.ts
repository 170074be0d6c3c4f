/** Returns the rows as lines of text, with names on the left and numbers on the right. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row.at(column)?.length ?? 0));
  return rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widthOf(i)) : cell.padStart(widthOf(i)))).join('  '));
}
