import { generateApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { loggedPath } from './logged-path.js';

const key = generateApiKeySecret('production' as KeyEnvironment);
const redacted = `${prefixOf(key)}…`;

const percentEncoded = (text: string) => [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');

describe('loggedPath', () => {
  it('removes the query string', () => {
    expect(loggedPath(`/v1/pets?api_key=${key}`)).toBe('/v1/pets');
    expect(loggedPath('/v1/pets/1')).toBe('/v1/pets/1');
  });

  it('keeps the encoding of a path without a key', () => {
    expect(loggedPath('/v1/pets/%2F%zz')).toBe('/v1/pets/%2F%zz');
  });

  it('keeps control characters around a redacted key encoded', () => {
    expect(loggedPath(`/v1/pets/%1B[31m%0a%9b%2520${key}`)).toBe(`/v1/pets/%1b[31m%0a%9b%20${redacted}`);
  });

  it.each([
    ['plain', key],
    ['with an encoded underscore', key.replaceAll('_', '%5F')],
    ['encoded', percentEncoded(key)],
    ['encoded twice', percentEncoded(key).replaceAll('%', '%25')],
    ['encoded three times', percentEncoded(key).replaceAll('%', '%2525')],
  ])('redacts a key %s', (_, text) => {
    expect(loggedPath(`/v1/pets/${text}`)).toBe(`/v1/pets/${redacted}`);
  });
});
