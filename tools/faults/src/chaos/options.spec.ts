import { expect, it } from '@jest/globals';
import { parseInteger } from './options.js';

it.each(['0', '-1', '1.5', 'many', '', '1234567890'])('rejects %j rounds, in which no fault is injected', (text) => {
  expect(() => parseInteger(1)(text)).toThrow('must be an integer from 1 to 999999999.');
});

it('accepts a number of rounds and the seed 0', () => {
  expect([parseInteger(1)('2'), parseInteger(0)('0')]).toEqual([2, 0]);
});
