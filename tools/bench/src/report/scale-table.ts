import type { ScaleResult } from '../scale.js';
import { costRatio, medianCost, rowCounts } from '../scale-verdicts.js';
import { number, table } from './table.js';

/** Each cell has the cost in milliseconds and its ratio to the cost at the fewest rows. */
export function scaleTable({ series }: ScaleResult): string {
  const counts = [...new Set(series.flatMap(rowCounts))];
  return table(
    ['read, connections', ...counts.map((rows) => `${rows.toLocaleString('en')} rows`)],
    series.map((one) => [
      `${one.read}, ${one.connections}`,
      ...counts.map((rows) => `${medianCost(one, rows).toFixed(3)} × ${number(costRatio(one, rows))}`),
    ]),
  );
}
