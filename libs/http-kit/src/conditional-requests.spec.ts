import fc from 'fast-check';
import { DomainError, PRECONDITION_FAILED } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { entityTagOf, parseIfMatch } from './conditional-requests.js';

const TEXT = '{"id":9007199254740993,"name":"Bär"}';
const LINK = '<https://api.example.com/v1/pets?cursor=x>; rel="next"';

// Clients store these tags. Another value would make each of them download its content again.
describe('entityTagOf', () => {
  it.each([
    ['a body', undefined, '"42Y4EldEB2M85Vtw70ijaAVMw8I"'],
    ['a body with a Link', LINK, '"gJsyXZtKZm0f30O66rTbSDu4WWc"'],
  ])('returns the same tag for %s in every release, as text and as bytes', (_, link, tag) => {
    expect(entityTagOf(TEXT, link)).toBe(tag);
    expect(entityTagOf(Buffer.from(TEXT), link)).toBe(tag);
  });
});

const CURRENT = { id: 9007199254740993n, name: 'Rex' };
const TAG = entityTagOf('{"id":9007199254740993,"name":"Rex"}');

const isMet = (field: string): boolean => {
  const precondition = parseIfMatch(field);
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
      else expect(() => parseIfMatch(field)).toThrow(DomainError);
    }),
    { numRuns: 500, examples: [[[TAG]], [['"a"', ',', TAG]], [['"a"', ',', `W/${TAG}`]], [[]]] },
  );
});

it('* matches every representation', () => {
  expect(isMet('*')).toBe(true);
});

it('long malformed fields are rejected without backtracking', () => {
  for (const part of [', ', '"a", ', ' ', '"', 'W/"a",']) {
    expect(() => parseIfMatch(`"a"${part.repeat(8_000 / part.length)}x`)).toThrow(DomainError);
  }
});
