import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { warnIfDeprecated } from './headers.js';

const warn = jest.fn<(message: string) => void>();

beforeEach(() => {
  Object.assign(globalThis, { [Symbol.for('@animal-store/client.warned')]: undefined });
  warn.mockClear();
});

const warningOf = (headers: Record<string, string>) => {
  warnIfDeprecated('getPet', new Headers(headers), warn);
  return warn.mock.calls.map(([message]) => message);
};

describe('the warning about a deprecated operation', () => {
  it.each([
    [{}, 'Animal Store: getPet has been deprecated since 2025-12-05.'],
    [
      { Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' },
      'Animal Store: getPet has been deprecated since 2025-12-05. It will be removed on 2030-12-05.',
    ],
    [
      { Link: '</docs>; rel="deprecation", </v1/pets>; rel="successor-version", </x>; rel="next"' },
      'Animal Store: getPet has been deprecated since 2025-12-05. Use /v1/pets instead.',
    ],
    [
      { Link: '</v1/pets>; title="Pets";rel=successor-version' },
      'Animal Store: getPet has been deprecated since 2025-12-05. Use /v1/pets instead.',
    ],
    [{ Sunset: 'never' }, 'Animal Store: getPet has been deprecated since 2025-12-05.'],
    [{ Link: '</docs>; rel="deprecation"' }, 'Animal Store: getPet has been deprecated since 2025-12-05.'],
  ])('has what the headers tell: %j', (headers, warning) => {
    expect(warningOf({ Deprecation: '@1764892800', ...headers })).toEqual([warning]);
  });

  it.each(['', 'true', '@', '@99999999999999', '@1x', 'x@1', '1764892800', 'Fri, 05 Dec 2025 00:00:00 GMT'])(
    'is not logged for the header Deprecation: %s',
    (value) => {
      expect(warningOf({ Deprecation: value })).toEqual([]);
    },
  );

  it('is not logged without the header', () => {
    expect(warningOf({ Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' })).toEqual([]);
  });

  it('is logged once per process for each operation', () => {
    const headers = new Headers({ Deprecation: '@0' });
    for (const operation of ['getPet', 'listPets', 'getPet', 'listPets']) warnIfDeprecated(operation, headers, warn);
    expect(warn.mock.calls.map(([message]) => message)).toEqual([
      'Animal Store: getPet has been deprecated since 1970-01-01.',
      'Animal Store: listPets has been deprecated since 1970-01-01.',
    ]);
  });

  it('is logged once if a process loads both modules of the package', () => {
    Object.assign(globalThis, { [Symbol.for('@animal-store/client.warned')]: new Set(['getPet']) });
    expect(warningOf({ Deprecation: '@0' })).toEqual([]);
  });
});
