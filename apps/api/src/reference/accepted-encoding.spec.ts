import { expect, it } from '@jest/globals';
import { acceptedEncoding } from './accepted-encoding.js';

it.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZip ; q=0.5 , br;q=0.2', 'gzip'],
  ['br;q=0, gzip;q=0.001', 'gzip'],
  ['br;q=0,gzip;q=0', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity;q=0, *;q=0', undefined],
  ['deflate, zstd', undefined],
  ['gzip;q=x', undefined],
  ['gzip;q=2', undefined],
  ['gzip;level=9', undefined],
  [',;=,,', undefined],
])('Accept-Encoding %j prefers %s', (field, encoding) => {
  expect(acceptedEncoding(field)).toBe(encoding);
});
