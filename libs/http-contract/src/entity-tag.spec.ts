import { describe, expect, it } from '@jest/globals';
import { entityTagOf } from './entity-tag.js';

const TEXT = '{"id":9007199254740993,"name":"Bär"}';
const LINK = '<https://api.example.com/v1/pets?cursor=x>; rel="next"';

// Clients store these tags. Another value would make each of them download its content again.
describe('entityTagOf', () => {
  it.each([
    ['a body', undefined, '"42Y4EldEB2M85Vtw70ijaAVMw8I"'],
    ['a body with a Link', LINK, '"gJsyXZtKZm0f30O66rTbSDu4WWc"'],
  ])('returns the stored tag for %s, as text and as bytes', (_, link, tag) => {
    expect(entityTagOf(TEXT, link)).toBe(tag);
    expect(entityTagOf(Buffer.from(TEXT), link)).toBe(tag);
  });
});
