import fc, { type Arbitrary } from 'fast-check';
import type { SchemaOrReference } from '../openapi/api-document.js';
import type { SchemaValues } from '../openapi/schema-values.js';
import { bytes, type Bytes, filler, mostly, words } from './hostile-bytes.js';

const text = fc.oneof(
  fc.string({
    unit: fc.integer({ min: 0, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed()),
    maxLength: 20,
  }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', ' ', '\u00a0', '\u2028', '\0', 'a\0b', '\ud800', '\udc00\ud800', '\ufeff'),
  fc.tuple(fc.constantFrom('x', '😀'), fc.constantFrom(255, 256)).map(([unit, length]) => unit.repeat(length)),
);
const jsonNumber = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(...words`7 7.0 7e0 70e-1 -0 0.0 1e400 -1e400 1e-400 1E+2 1e18 1e19 1e999999999 0e999999999 7.5`),
  fc.constantFrom(...words`9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775809 01 +1 .5 5. 0x1 NaN 1_000`),
  fc.constant(`0.${'0'.repeat(5000)}1e5001`),
  fc.double().map((value) => JSON.stringify(value)),
);
const jsonValue = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  jsonNumber,
  fc.constantFrom(
    ...words`null true [] {} "7" "2030-02-30" "2030-01-01T00:00:60Z" "0000-01-01T00:00:00+25:00" [["a"]] {"a":{"__proto__":1}}`,
  ),
  fc.json({ maxDepth: 3 }),
);
const strangeName = fc.constantFrom('', ...words`id __proto__ constructor prototype toString hasOwnProperty Name length then toJSON`);
const damage = (json: string) =>
  fc.tuple(fc.nat(), fc.nat({ max: 3 }), bytes).map(([at, removed, inserted]) => {
    const original = utf8(json);
    const start = at % (original.length + 1);
    return original.slice(0, start) + inserted + original.slice(start + removed);
  });

const nested = fc
  .constantFrom(10, 1_000, 20_000, 32_000)
  .chain((depth) =>
    fc
      .constantFrom(['[', ']'], ['{"a":', '}'], ['{"__proto__":', '}'], ['[{"a":', '}]'])
      .map(([open = '', close = '']): readonly Bytes[] => [
        { filler: open, times: Math.floor(depth / open.length) },
        '1',
        { filler: close, times: Math.floor(depth / open.length) },
      ]),
  );
const wideNumber = filler('9', 100, 60_000).map((digits): readonly Bytes[] => [digits]);

/** Generates bodies of an operation, in pieces: some or all of their members have hostile values, or the text is hostile. */
export function hostileBodies(values: SchemaValues, schema: SchemaOrReference): Arbitrary<readonly Bytes[]> {
  const valid = values.json(schema);
  const names = Object.keys(values.merged(schema).properties ?? { a: {} });
  const member = fc.tuple(fc.oneof(fc.constantFrom(...names), strangeName), jsonValue);
  const withHostileMembers = fc
    .tuple(
      values.json(schema, (usual) => mostly(usual, jsonValue)),
      fc.array(member, { maxLength: 3 }),
    )
    .map(([json, more]) => more.reduce((extended, [name, value]) => `${beforeMember(extended, JSON.stringify(name))}${value}}`, json));
  const large = fc
    .tuple(valid, fc.constantFrom(...names, 'deep'), fc.oneof(nested, wideNumber))
    .map(([json, name, pieces]) => [beforeMember(utf8(json), `"${name}"`), ...pieces, '}']);
  const atSizeLimit = fc
    .tuple(valid, fc.constantFrom(65_500, 65_536, 65_537, 70_000, 300_000))
    .map(([json, length]) => [
      beforeMember(utf8(json), '"x"') + '"',
      { filler: 'x', times: Math.max(0, length - utf8(json).length - 8) },
      '"}',
    ]);
  const strangeText = fc
    .tuple(valid, fc.constantFrom('', '\xef\xbb\xbf', '\xff\xfe', '\xc0\xaf'), valid)
    .map(([json, mark, other]) => [
      mark + utf8(json),
      utf8(json.slice(0, -1)) + ',' + utf8(other.slice(1)),
      utf8(json).replace('":"', `":"\xc0\xaf`),
    ])
    .chain((texts) => fc.constantFrom(...texts, '', '\0', '\xff\xfe{\0}\0'));
  return fc.oneof(
    { weight: 10, arbitrary: withHostileMembers.map((json) => [utf8(json)]) },
    { weight: 5, arbitrary: withHostileMembers.chain(damage).map((json) => [json]) },
    { weight: 3, arbitrary: bytes.map((content) => [content]) },
    { weight: 2, arbitrary: fc.json().map((json) => [utf8(json)]) },
    { weight: 2, arbitrary: strangeText.map((json) => [json]) },
    { weight: 2, arbitrary: large },
    { weight: 1, arbitrary: atSizeLimit },
  );
}

/** Returns the object without its end, and the name of another member. */
function beforeMember(object: string, name: string): string {
  return `${object.slice(0, -1)}${object === '{}' ? '' : ','}${name}:`;
}

export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
