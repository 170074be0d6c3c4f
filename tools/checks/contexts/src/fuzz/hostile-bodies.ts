import fc, { type Arbitrary } from 'fast-check';
import { bytes, type Bytes, filler, words } from './hostile-bytes.js';

const name = fc.oneof(
  fc.string({
    unit: fc.integer({ min: 0, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed()),
    maxLength: 20,
  }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', ' ', '\u00a0', '\u2028', '\0', 'a\0b', '\ud800', '\udc00\ud800', '\ufeff'),
  fc.tuple(fc.constantFrom('x', '😀'), fc.constantFrom(255, 256)).map(([text, length]) => text.repeat(length)),
);
const jsonNumber = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(...words`7 7.0 7e0 70e-1 -0 0.0 1e400 -1e400 1e-400 1E+2 1e18 1e19 1e999999999 0e999999999 7.5`),
  fc.constantFrom(...words`9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775809 01 +1 .5 5. 0x1 NaN 1_000`),
  fc.constant(`0.${'0'.repeat(5000)}1e5001`),
  fc.double().map((value) => JSON.stringify(value)),
);
const jsonValue = fc.oneof(
  name.map((text) => JSON.stringify(text)),
  jsonNumber,
  fc.constantFrom(...words`null true [] {} "7" "available" "pending" "sold" "SOLD" [["a"]] {"a":{"__proto__":1}}`),
  fc.json({ maxDepth: 3 }),
);
const member = fc.tuple(
  fc.oneof(
    fc.constantFrom(...words`name categoryId status`),
    fc.constantFrom('', ...words`id __proto__ constructor prototype toString hasOwnProperty \u006eame Name length then toJSON`),
  ),
  jsonValue,
);
const pet = fc
  .record({
    name: fc.oneof(
      fc.constant('"Rex"'),
      name.map((text) => JSON.stringify(text)),
      jsonValue,
    ),
    categoryId: fc.oneof(fc.constant('7'), jsonNumber, jsonValue),
    more: fc.array(member, { maxLength: 3 }),
  })
  .map(
    ({ name: petName, categoryId, more }) =>
      `{"name":${petName},"categoryId":${categoryId}${more.map(([key, value]) => `,"${key}":${value}`).join('')}}`,
  );
const damaged = fc.tuple(pet, fc.nat(), fc.nat({ max: 3 }), bytes).map(([text, at, removed, inserted]) => {
  const original = utf8(text);
  const start = at % (original.length + 1);
  return original.slice(0, start) + inserted + original.slice(start + removed);
});
const nested = fc
  .constantFrom(10, 1_000, 20_000, 32_000)
  .chain((depth) =>
    fc
      .constantFrom(['[', ']'], ['{"a":', '}'], ['{"__proto__":', '}'], ['[{"a":', '}]'])
      .map(([open = '', close = '']): readonly Bytes[] => [
        '{"name":"Rex","categoryId":7,"deep":',
        { filler: open, times: Math.floor(depth / open.length) },
        '1',
        { filler: close, times: Math.floor(depth / open.length) },
        '}',
      ]),
  );
const bodyAtSizeLimit = fc
  .constantFrom(65_500, 65_536, 65_537, 70_000, 300_000)
  .map((length): readonly Bytes[] => ['{"name":"Rex","categoryId":7,"x":"', { filler: 'x', times: length - 36 }, '"}']);
const wideNumber = filler('9', 100, 60_000).map((digits): readonly Bytes[] => ['{"name":"Rex","categoryId":', digits, '}']);
/** Bodies of createPet, in pieces. */
export const bodyBytes: Arbitrary<readonly Bytes[]> = fc.oneof(
  { weight: 10, arbitrary: pet.map((text) => [utf8(text)]) },
  { weight: 5, arbitrary: damaged.map((text) => [text]) },
  { weight: 3, arbitrary: bytes.map((text) => [text]) },
  { weight: 2, arbitrary: fc.json().map((text) => [utf8(text)]) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        '',
        '\xef\xbb\xbf{"name":"Rex","categoryId":7}',
        '\xff\xfe{\0}\0',
        '\0',
        '{"name":"\\ud800","categoryId":7}',
        '{"name":"a","name":"b","categoryId":7,"categoryId":"x"}',
        '{"name":"\xc0\xaf","categoryId":7}',
      )
      .map((text) => [text]),
  },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: bodyAtSizeLimit },
  { weight: 1, arbitrary: wideNumber },
);

function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
