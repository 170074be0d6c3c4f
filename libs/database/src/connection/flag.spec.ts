import { expect, it } from '@jest/globals';
import { parseFlag } from './flag.js';

it.each([
  ...['true', 'on', 'yes', '1'].map((text) => [text, true] as const),
  ...['false', 'off', 'no', '0'].map((text) => [text, false] as const),
  ...['', 'maybe', 'xon', 'onx', 'xoff', '00', 'ON'].map((text) => [text, undefined] as const),
])('the flag %j is %s', (text, value) => {
  expect(parseFlag(text)).toBe(value);
});
