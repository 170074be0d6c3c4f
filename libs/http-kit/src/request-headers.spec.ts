import fc from 'fast-check';
import { DomainError, PRECONDITION_FAILED } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { ApiProperty } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { entityTagOf, preconditionOf } from './conditional-requests.js';
import { IDEMPOTENCY_KEY, parseIdempotencyKey } from './idempotency-key.js';
import { INVALID_REQUEST, rejectHeader } from './routes.js';

const TEXT = '{"id":9007199254740993,"name":"Bär"}';
const LINK = '<https://api.example.com/v1/pets?cursor=x>; rel="next"';

// Clients store these tags. Another value would make each of them download its content again.
describe('entityTagOf', () => {
  it.each([
    ['a body', undefined, '"42Y4EldEB2M85Vtw70ijaAVMw8I"'],
    ['a body with a Link', LINK, '"gJsyXZtKZm0f30O66rTbSDu4WWc"'],
  ])('returns the same tag for %s in every release, as text and as bytes', (_, link, tag) => {
    expect(entityTagOf(TEXT, link)).toBe(tag);
  });
});

class ToyDto {
  @ApiProperty()
  id!: bigint;

  @ApiProperty()
  name!: string;
}

/** The class of the response does not document the price. */
const CURRENT = { id: 9007199254740993n, price: 7, name: 'Rex' };
const TAG = entityTagOf('{"id":9007199254740993,"name":"Rex"}');

const isMet = (field: string): boolean => {
  const precondition = preconditionOf(field, ToyDto);
  try {
    precondition(CURRENT);
    return true;
  } catch (error) {
    expect(error).toMatchObject({
      name: 'DomainError',
      code: PRECONDITION_FAILED.code,
      message: 'The resource has changed; get it again and send its new ETag in If-Match.',
    });
    return false;
  }
};

/** Parses character by character. Returns undefined if the field is malformed. */
function tagsIn(field: string): string[] | undefined {
  const tags: string[] = [];
  let separated = true;
  for (let rest = field; rest !== '';) {
    if (' \t,'.includes(rest.charAt(0))) {
      separated ||= rest.startsWith(',');
      rest = rest.slice(1);
      continue;
    }
    const start = rest.startsWith('W/') ? 2 : 0;
    const end = rest.indexOf('"', start + 1);
    const isTag = rest.charAt(start) === '"' && end > 0 && [...rest.slice(start + 1, end)].every((one) => one > ' ' && one !== '\x7f');
    if (!separated || !isTag) return undefined;
    tags.push(rest.slice(0, end + 1));
    rest = rest.slice(end + 1);
    separated = false;
  }
  return tags.length > 0 ? tags : undefined;
}

it('If-Match is a list of entity tags, one of which must be the current one', () => {
  const part = fc.constantFrom(TAG, `W/${TAG}`, '"a"', '""', '"a,b"', '"\xe9"', 'W/', 'w/', '"', 'x', ',', ', ', ' ', '\t', '\x7f', '*');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const field = parts.join('');
      fc.pre(field !== '*');
      const tags = tagsIn(field);
      if (tags) expect(isMet(field)).toBe(tags.includes(TAG));
      else expect(() => preconditionOf(field, ToyDto)).toThrow(DomainError);
    }),
    { numRuns: 500, examples: [[[TAG]], [['"a"', ',', TAG]], [['"a"', ',', `W/${TAG}`]], [[]]] },
  );
});

it('* matches every representation', () => {
  expect(isMet('*')).toBe(true);
});

it('long malformed fields are rejected without backtracking', () => {
  for (const part of [', ', '"a", ', ' ', '"', 'W/"a",']) {
    expect(() => preconditionOf(`"a"${part.repeat(8_000 / part.length)}x`, ToyDto)).toThrow(DomainError);
  }
});

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

/** The documented rule: 1 to 255 visible ASCII characters, bare or as a quoted string. */
function isAccepted(field: string): boolean {
  const characters = [...field];
  let key = field;
  if (field.startsWith('"')) {
    key = '';
    let index = 1;
    for (; index < characters.length && characters[index] !== '"'; index++) {
      if (characters[index] === '\\' && !['"', '\\'].includes(characters[++index] ?? '')) return expectRejected(field);
      key += characters[index] ?? '';
    }
    if (index !== characters.length - 1) return expectRejected(field);
  }
  const isKey = key.length >= 1 && key.length <= 255 && [...key].every((character) => character > ' ' && character < '\u007f');
  if (!isKey) return expectRejected(field);
  expect(parseIdempotencyKey(field)).toBe(key);
  return true;
}

function expectRejected(field: string): false {
  expect(() => parseIdempotencyKey(field)).toThrow(DomainError);
  return false;
}

describe('the Idempotency-Key', () => {
  it('has the same value quoted and bare', () => {
    fc.assert(
      fc.property(visible, (key) => {
        expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
        fc.pre(!key.startsWith('"'));
        expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  it('matches the pattern in the OpenAPI document', () => {
    const pattern = new RegExp(IDEMPOTENCY_KEY.source, 'u');
    // Quotes, backslashes and lengths around the limit. One in ten characters is not visible or not ASCII.
    const character = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', '!', '#', '[', ']', '~') },
      { weight: 3, arbitrary: fc.constantFrom('"', '\\', '\\"', '\\\\') },
      { weight: 1, arbitrary: fc.constantFrom(' ', '\u007f', 'ä', '\n') },
    );
    const text = fc.oneof(
      fc.array(character, { maxLength: 6 }).map((characters) => characters.join('')),
      fc.tuple(fc.constantFrom('a', '\\"', '\\\\', '"'), fc.integer({ min: 253, max: 257 })).map(([unit, times]) => unit.repeat(times)),
    );
    const field = fc.tuple(text, fc.boolean()).map(([inner, isQuoted]) => (isQuoted ? `"${inner}"` : inner));
    fc.assert(
      fc.property(field, (given) => expect(pattern.test(given)).toBe(isAccepted(given))),
      { numRuns: 500 },
    );
  });

  it.each(['', '""', 'a b', 'a, b', '"a b"', '"a', '"a"b', '"a\\b"', 'ä', 'a\tb', 'x'.repeat(256), `"${'x'.repeat(256)}"`])(
    'is rejected if it is %j',
    (field) => {
      expect(() => parseIdempotencyKey(field)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: 'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters, quoted or unquoted',
        }),
      );
    },
  );
});

it('the messages about several headers are collected, and each error is thrown after the pipes', async () => {
  const request = {} as FastifyRequest;
  const errors = ['first', 'second'].map((message) => new DomainError(INVALID_REQUEST, message));
  const rejections = errors.map((error) => rejectHeader(request, error).catch((caught: unknown) => caught));
  expect(request.headerViolations).toEqual(['first', 'second']);
  const isEarly = await Promise.race([...rejections, Promise.resolve().then(() => 'after the pipes')]);
  expect(isEarly).toBe('after the pipes');
  expect(await Promise.all(rejections)).toEqual(errors);
});

it.each([
  ['of another code', new DomainError({ code: 'toy_broken', kind: 'unprocessable', message: 'The toy is broken.' })],
  ['that is a defect', Object.assign(new Error('defect'), { code: INVALID_REQUEST.code })],
])('an error %s is thrown at once', (_what, error) => {
  const request = {} as FastifyRequest;
  expect(() => rejectHeader(request, error)).toThrow(error);
  expect(request.headerViolations).toBeUndefined();
});
