import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HTTP_ERRORS } from '../errors/http-errors.js';
import { parseJson } from './parse-json.js';

const MALFORMED: unknown = expect.objectContaining({ definition: HTTP_ERRORS.malformedJson });

const parse = (text: string) => parseJson(Buffer.from(text));

describe('parseJson', () => {
  it('parses int64s as exact bigints, at any depth', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), (value) => {
        expect(parse(`{"a":${String(value)},"b":[{"c":${String(value)}}]}`)).toEqual({ a: value, b: [{ c: value }] });
      }),
    );
  });

  it.each([
    ['7.5', 7.5],
    ['9223372036854775808', 9223372036854775808],
    ['7.0000000000000000000001', 7],
    ['1e400', Infinity],
    ['9.007199254740992E15', 9007199254740992],
    ['-9007199254740992.0', -9007199254740992],
    ['9007199254740993e0', 9007199254740992],
  ])('parses %s, which is not an int64 or has lost digits, as a number', (text, value) => expect(parse(text)).toBe(value));

  it.each([
    ['[0,-0,7,-7,999999999999999]', [0n, 0n, 7n, -7n, 999999999999999n]],
    ['[7.0,7e0,70E-1,-0.0]', [7n, 7n, 7n, 0n]],
    ['[9007199254740991.0,-9.007199254740991e15,9007199254740993]', [9007199254740991n, -9007199254740991n, 9007199254740993n]],
    ['["1.5",7]', ['1.5', 7n]],
    ['{"__proto__":7}', JSON.parse('{"__proto__":"7n"}', (_key, value: unknown) => (value === '7n' ? 7n : value))],
  ])('parses the integers in %s as bigints, in every notation', (text, value) => expect(parse(text)).toEqual(value));

  it('parses everything except integers like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), (text) => {
        const numbers = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
        const exact = JSON.stringify(parse(text), numbers);
        expect(exact).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it.each(['', '{', '{"a":01}', "{'a':1}", '[1,]', 'nul', '\u00a01'])('rejects %j', (text) => {
    expect(() => parse(text)).toThrow(MALFORMED);
  });

  it('rejects invalid UTF-8', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc3, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ]) {
      expect(() => parseJson(Buffer.from(bytes))).toThrow('The body is not UTF-8.');
    }
  });

  it.each<[what: string, nest: (depth: number) => string]>([
    ['arrays', (depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['objects', (depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['arrays and numbers that may lose digits', (depth) => `${'[1.0,'.repeat(depth)}1${']'.repeat(depth)}`],
  ])('parses 64 levels of %s, and rejects more', (_what, nest) => {
    expect(() => parse(nest(64))).not.toThrow();
    for (const depth of [65, 100, 5_000, 10_000]) expect(() => parse(nest(depth))).toThrow('more than 64 levels deep');
    // Closed brackets and brackets in strings do not count.
    expect(() => parse(`[${`${nest(63)},`.repeat(5)}"${'[{'.repeat(100)}","\\"${'[{'.repeat(100)}\\\\"]`)).not.toThrow();
  });

  it('rejects many unclosed brackets', () => {
    for (const open of ['[', '{"a":', '{']) expect(() => parse(open.repeat(65_536))).toThrow(MALFORMED);
  });
});
