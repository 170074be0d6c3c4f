import { expect, it } from '@jest/globals';
import { parsePgbench } from './pgbench.js';

const OUTPUT = `transaction type: list.sql
number of transactions actually processed: 180000
number of failed transactions: 3 (0.002%)
latency average = 0.266 ms
initial connection time = 31.415 ms
tps = 60123.456789 (without initial connection time)
`;

it('parses the output of pgbench', () => {
  expect(parsePgbench(OUTPUT)).toEqual({ perSecond: 60123.456789, failed: 3 });
});

it('throws with the output of pgbench if there is no result', () => {
  expect(() => parsePgbench('pgbench: error: connection failed')).toThrow('pgbench printed no result: pgbench: error: connection failed');
});
