import type { ScaleResult } from '../scale.js';
import { costRatio, medianCost, rowCounts } from '../scale-verdicts.js';
import { table } from '@animal-store/faults/table';
import { number } from './number.js';

/** Has the cost at the fewest rows in milliseconds, and the other costs relative to it. */
export function scaleTable({ series }: ScaleResult): string {
  const [fewest = 0, ...counts] = [...new Set(series.flatMap(rowCounts))];
  return table(
    ['read, connections', ...[fewest, ...counts].map((count) => `${count.toLocaleString('en')} rows`)],
    series.map((one) => [
      `${one.read}, ${one.connections}`,
      medianCost(one, fewest).toFixed(3),
      ...counts.map((count) => number(costRatio(one, count))),
    ]),
  );
}
