import { expect, it } from '@jest/globals';
import { statFields } from './process-usage.js';

it('parses /proc/<pid>/stat with spaces and brackets in the name', () => {
  const fields = statFields('7 (io (worker) 1) S 1 7 7 0 -1 64 5 0 0 0 11 22 33 44 20 0 1');
  expect(fields.slice(11, 15)).toEqual([11, 22, 33, 44]);
});
