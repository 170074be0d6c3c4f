import { expect, it } from '@jest/globals';
import { PublicUrl } from './public-url.js';

it('URLs are below the base URL, or relative to the origin without one', () => {
  expect(new PublicUrl('https://api.example.com/store').of('/v1/toys')).toBe('https://api.example.com/store/v1/toys');
  expect(new PublicUrl().of('/v1/toys')).toBe('/v1/toys');
});
