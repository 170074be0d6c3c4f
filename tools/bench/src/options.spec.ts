import { expect, it } from '@jest/globals';
import { integer, namesFrom } from './options.js';

it('accepts known names', () => {
  expect(namesFrom(['list', 'get'])('get, list')).toEqual(['get', 'list']);
  expect(() => namesFrom(['list', 'get'])('list,put')).toThrow('put is none of list, get.');
  expect(() => namesFrom(['list'])('list,')).toThrow('an empty name is none of list.');
});

it('accepts integers in a range', () => {
  expect(integer(1, 60)('60')).toBe(60);
  for (const text of ['0', '61', '1.5', 'x', '']) expect(() => integer(1, 60)(text)).toThrow('must be an integer from 1 to 60.');
});
