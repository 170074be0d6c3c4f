import { expect, it } from '@jest/globals';
import { reportChaos } from './chaos-report.js';
import { Observations } from './load.js';

const calm = Object.assign(new Observations(), { acceptedMs: [1, 2, 30], shed: 4, dropped: ['a', 'b'], excused: 3 });
const verdict = { acknowledged: 7, stored: 8, lost: 0, duplicates: 0 };
const statuses = new Map([
  [503, 4],
  [200, 3],
]);
const phases = [
  { name: 'calm', seen: calm },
  { name: 'database stopped', seen: new Observations(), recoveryMs: 1_234.5 },
];

it('has a line for each phase, and the sums', () => {
  const lines = reportChaos({ phases, verdict, statuses, problems: [] }).split('\n');
  const cells = lines.filter((line) => line.startsWith('|')).map((line) => line.split('|').map((cell) => cell.trim()));
  expect(cells.slice(2)).toEqual([
    ['', 'calm', '3', '2', '30', '4', '5', '', ''],
    ['', 'database stopped', '0', '0', '0', '0', '0', '1.2', ''],
  ]);
  expect(lines.slice(-7).join()).toBe(
    'responses     200: 3, 503: 4,acknowledged  7,stored        8,lost          0,duplicates    0,,all promises kept',
  );
});

it('lists each broken promise', () => {
  const text = reportChaos({ phases, verdict, statuses, problems: ['one', 'two'] });
  expect(text).toMatch(/\nbroken promises:\n- one\n- two$/);
});
