import { expect, it } from '@jest/globals';
import { splitUnquoted } from './split-unquoted.js';

it.each([
  ['a', ['a']],
  ['a , b,c', ['a', 'b', 'c']],
  ['a="x, y", b', ['a="x, y"', 'b']],
  [String.raw`a="x\", y", b`, [String.raw`a="x\", y"`, 'b']],
  [String.raw`a="x\\", b`, [String.raw`a="x\\"`, 'b']],
  ['a="x, b', ['a="x, b']],
  ['a="x"y", b', ['a="x"y", b']],
])('splits %j outside of quoted strings', (field, parts) => {
  expect(splitUnquoted(field, ',').filter((part) => part !== '')).toEqual(parts);
  expect(splitUnquoted(field.replaceAll(',', ';'), ';').filter((part) => part !== '')).toEqual(
    parts.map((part) => part.replaceAll(',', ';')),
  );
});

it('keeps an empty first part', () => {
  expect(splitUnquoted('; a', ';').slice(0, 2)).toEqual(['', 'a']);
  expect(splitUnquoted('', ';')).toEqual(['']);
});
