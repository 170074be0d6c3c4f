import { expect, it } from '@jest/globals';
import { urlOf } from './service.js';

it.each([
  ['127.0.0.1', 'http://localhost:3000'],
  ['::', 'http://localhost:3000'],
  ['192.0.2.1', 'http://192.0.2.1:3000'],
  ['2001:db8::1', 'http://[2001:db8::1]:3000'],
])('a server on %s has the URL %s', (address, url) => {
  expect(urlOf({ address, port: 3000 })).toBe(url);
});
