import { generateApiKeySecret, type KeyEnvironment } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import {
  integerParser,
  parseClientName,
  parseDuration,
  parseEnvironment,
  parseId,
  parseLifetime,
  parseRateLimit,
  parseScopes,
} from './arguments.js';

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['2w', 1_209_600_000],
    ['36500d', 3_153_600_000_000],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '90', 'd', '90D', '90 d', '-1d', '1.5h', '1h30m', '1y', '36501d', '9'.repeat(20) + 's', 'toString'])('is not %j', (text) =>
    expect(() => parseDuration(text)).toThrow(/^It must be a number and a unit, such as 30s, .* at most 36500d\.$/),
  );

  it('until a key expires must be more than zero', () => {
    expect(parseLifetime('1s')).toBe(1000);
    expect(() => parseLifetime('0d')).toThrow(new InvalidArgumentError('It must be longer than zero.'));
  });
});

describe('an integer', () => {
  const parse = integerParser(1, 100);
  it.each(['1', '42', '100'])('may be %s', (text) => expect(parse(text)).toBe(Number(text)));
  it.each(['0', '101', '', ' 1', '1.0', '1e1', '0x1', '-1', '9'.repeat(400)])('is not %j', (text) =>
    expect(() => parse(text)).toThrow('It must be an integer from 1 to 100.'),
  );
});

describe('scopes', () => {
  it('are separated by commas or given by several options', () => {
    expect(parseScopes('pets:read')).toEqual(['pets:read']);
    expect(parseScopes('pets:read, pets:write,pets:read')).toEqual(['pets:read', 'pets:write']);
    expect(parseScopes('pets:write', parseScopes('pets:read'))).toEqual(['pets:read', 'pets:write']);
  });

  it.each(['', ',', 'pets', 'pets:read,', 'pets:read pets:write', 'Pets:read'])('are not %j', (text) =>
    expect(() => parseScopes(text)).toThrow(/^It must be one or more different <resource>:<action> pairs /),
  );
});

describe('values with a rule of the domain', () => {
  it('are checked when the arguments are parsed', () => {
    expect(parseClientName('Acme Pets')).toBe('Acme Pets');
    expect(() => parseClientName(' ')).toThrow(
      'It must be 1 to 100 printable characters without a space at the beginning or end, or next to another space.',
    );
    const key = generateApiKeySecret('test' as KeyEnvironment);
    expect(() => parseClientName(key)).toThrow('It must not contain an API key.');
    expect(parseEnvironment('qa2')).toBe('qa2');
    expect(() => parseEnvironment('Q-A')).toThrow(/^It must be 1 to 20 lower-case letters and digits/);
  });
});

describe('a rate limit', () => {
  it.each(['0', '1000000000'])('may be %s', (text) => expect(parseRateLimit(text)).toBe(Number(text)));
  it('may be the default', () => expect(parseRateLimit('default')).toBe('default'));
  it.each(['', 'Default', '1000000001'])('is not %j', (text) =>
    expect(() => parseRateLimit(text)).toThrow('It must be an integer from 0 to 1000000000.'),
  );
});

describe('an id', () => {
  it.each(['1', '9223372036854775807'])('may be %s', (text) => expect(parseId(text)).toBe(BigInt(text)));
  it.each(['', 'x', '9223372036854775808'])('is not %j', (text) => expect(() => parseId(text)).toThrow('It must be an id.'));
});
