import { expect, it } from '@jest/globals';
import { goalTable } from './goal-table.js';

it('has one row per goal, with missed goals in bold', () => {
  const verdicts = [
    { goal: 'p99 ÷ go-pgx', workload: 'list', measured: 0.5, required: '≤ 1', met: true },
    { goal: 'p99 ÷ go-pgx', workload: 'create', measured: 1.5, required: '≤ 1', met: false },
    { goal: 'start, ms', measured: 395, required: '≤ 1000', met: true },
  ] as const;
  const [header, , row, , other] = goalTable(verdicts).split('\n');
  expect(header?.match(/[\w-]+/g)).toEqual(['goal', 'list', 'list-mixed', 'get', 'mixed', 'create']);
  expect(row?.split('|').map((cell) => cell.trim())).toEqual(['', 'p99 ÷ go-pgx', '0.50 (≤ 1)', '–', '–', '–', '**1.50** (≤ 1)', '']);
  expect(other).toBe('- start, ms: 395 (≤ 1000)');
});
