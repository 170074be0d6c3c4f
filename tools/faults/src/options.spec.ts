import { expect, it } from '@jest/globals';
import { parseInteger, parseNames } from './options.js';

it('accepts known names', () => {
  expect(parseNames(['list', 'get'])('get, list')).toEqual(['get', 'list']);
  expect(() => parseNames(['list', 'get'])('list,put')).toThrow('"put" must be one of list, get.');
  expect(() => parseNames(['list'])('list,')).toThrow('"" must be one of list.');
});

it('accepts integers in a range', () => {
  expect(parseInteger(1, 60)('60')).toBe(60);
  for (const text of ['0', '61', '1.5', 'x', '']) expect(() => parseInteger(1, 60)(text)).toThrow('must be an integer from 1 to 60.');
});
