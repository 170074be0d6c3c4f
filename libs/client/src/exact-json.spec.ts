import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson, stringifyJson } from './exact-json.js';
import { INT64_MEMBERS } from './openapi.generated.js';

type SourceReviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
/** The signature of ES2026, which Node.js 20 and some browsers lack. */
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

/** Does the same as `parseJson`, with the source text access of newer engines. */
function parseNatively(text: string): unknown {
  return parseWithSource(text, (name, value, { source = '' }) =>
    typeof value === 'number' && INT64_MEMBERS.has(name) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  );
}

function outcomeOf(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    return (error as Error).name;
  }
}

const names = fc.oneof(fc.constantFrom('id', 'categoryId', 'name', '__proto__', 'i"d', '', ': 1'), fc.string());
const character = fc
  .integer({ min: 0, max: 0x10_ffff })
  .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  .map((codePoint) => String.fromCodePoint(codePoint));
const strings = fc.oneof(fc.string({ unit: character }), fc.constantFrom('n1', 's', '"id": 5', '\\', '\\"', '1e5', ':', '": 1'));
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    strings.map((text) => JSON.stringify(text)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.constantFrom('true', 'false', 'null', '-0', '1E+2', '7.0', '9007199254740993'),
    fc.array(tie('json')).map((items) => `[${items.join(' , ')}]`),
    fc
      .array(fc.tuple(names, tie('json'), fc.constantFrom('', ' ', '\n')))
      .map((members) => `{${members.map(([name, value, space]) => `${JSON.stringify(name)}${space}:${space}${value}`).join()}}`),
  ),
}));

describe('parseJson', () => {
  it('returns int64 members as exact bigints, and other numbers as numbers', () => {
    expect(parseJson('[{"id":9007199254740993,"categoryId":-9223372036854775808,"age":7,"name":"\\"id\\":1"}]')).toEqual([
      { id: 9007199254740993n, categoryId: -9223372036854775808n, age: 7, name: '"id":1' },
    ]);
  });

  it('returns the same for any JSON as a reviver with source text access', () => {
    fc.assert(fc.property(json, (text) => expect(parseJson(text)).toEqual(parseNatively(text))));
  });

  it.each(['"\\0', '"0', '"\\', '{1:2}', '[{"id":1},{-0 : "a"}]', '"a":1', '01', '1.', '.5', '[1 2]'])('throws for %s', (text) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ name: 'SyntaxError' }));
  });

  it('throws for the same texts as JSON.parse', () => {
    const broken = fc
      .tuple(
        json,
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.oneof(fc.string(), fc.constantFrom('"', '"\\0', '\\', '0', '-', '.', ':', '{1:', '}', ',')),
      )
      .map(
        ([text, at, length, insertion]) =>
          text.slice(0, at % (text.length + 1)) + insertion + text.slice((at % (text.length + 1)) + length),
      );
    fc.assert(
      fc.property(broken, (text) => expect(outcomeOf(parseJson, text)).toEqual(outcomeOf(parseNatively, text))),
      {
        numRuns: 2_000,
      },
    );
  });
});

describe('stringifyJson', () => {
  it('writes bigints as numbers', () => {
    expect(
      stringifyJson({
        name: 'Rex "the dog"',
        categoryId: 9223372036854775807n,
        tags: [1n, null, undefined],
        status: undefined,
        owner: null,
      }),
    ).toBe('{"name":"Rex \\"the dog\\"","categoryId":9223372036854775807,"tags":[1,null,null],"owner":null}');
  });

  it('writes what parseJson reads', () => {
    const value = fc.record({ id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: fc.string({ unit: character }) });
    fc.assert(fc.property(fc.array(value), (pets) => expect(parseJson(stringifyJson(pets))).toEqual(pets)));
  });

  it.each([7, 2 ** 53 + 2, Number.NaN])('rejects the number %s for an int64', (categoryId) => {
    expect(() => stringifyJson({ name: 'Rex', categoryId })).toThrow(
      new TypeError('categoryId must be a bigint such as 7n, because a number is not exact above 2^53'),
    );
  });
});
