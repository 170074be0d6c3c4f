import { describe, expect, it } from '@jest/globals';
import { integerParser, parseDuration, parseId, parseScopes } from './arguments.js';

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['2w', 1_209_600_000],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '90', 'd', '90D', '90 d', '-1d', '1.5h', '1h30m', '1y', '9'.repeat(20) + 's', 'toString'])('is not %j', (text) =>
    expect(() => parseDuration(text)).toThrow('It must be a number and a unit, such as 30s, 15m, 24h, 90d or 2w.'),
  );
});

describe('an integer', () => {
  const parse = integerParser(1, 100);
  it.each(['1', '42', '100'])('may be %s', (text) => expect(parse(text)).toBe(Number(text)));
  it.each(['0', '101', '', ' 1', '1.0', '1e1', '0x1', '-1', '9'.repeat(400)])('is not %j', (text) =>
    expect(() => parse(text)).toThrow('It must be an integer from 1 to 100.'),
  );
});

it('scopes are separated by commas or given by several options', () => {
  expect(parseScopes('pets:read, pets:write,pets:read')).toEqual(['pets:read', 'pets:write']);
  expect(parseScopes('pets:write', parseScopes('pets:read'))).toEqual(['pets:read', 'pets:write']);
});

describe('an id', () => {
  it.each(['1', '9223372036854775807'])('may be %s', (text) => expect(parseId(text)).toBe(BigInt(text)));
  it.each(['', 'x', '9223372036854775808'])('is not %j', (text) => expect(() => parseId(text)).toThrow('It must be an id.'));
});
