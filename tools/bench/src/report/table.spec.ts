import { expect, it } from '@jest/globals';
import { number, table } from './table.js';

it('aligns names to the left and numbers to the right', () => {
  expect(table(['target', 'n'], [['go', '1,000']])).toBe('| target |     n |\n| ------ | ----: |\n| go     | 1,000 |');
});

it.each([
  [12_345.6, '12,346'],
  [12.34, '12.3'],
  [0.126, '0.13'],
  [NaN, '–'],
  [undefined, '–'],
])('formats %d as %s', (value, text) => expect(number(value)).toBe(text));
