import { expect, it } from '@jest/globals';
import { table } from './table.js';

it('aligns names to the left and numbers to the right', () => {
  expect(table(['target', 'n'], [['go', '1,000']])).toBe('| target |     n |\n| ------ | ----: |\n| go     | 1,000 |');
});
