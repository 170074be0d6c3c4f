import { describe, expect, it } from '@jest/globals';
import { requestIdOf } from './request-id.js';

const idFor = (given: string | undefined) => requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } });

describe('the request id', () => {
  it.each(['a', 'a'.repeat(128), '!~#-_7'])('is the one given when that is sane: %s', (given) => expect(idFor(given)).toBe(given));

  it.each([undefined, '', 'a'.repeat(129), 'a b', 'ä', 'a\tb', 'a\r\nX: y'])('is a new one for %j', (given) => {
    expect(idFor(given)).toMatch(/^[0-9a-f-]{36}$/);
    expect(idFor(given)).not.toBe(idFor(given));
  });
});
