import { describe, expect, it } from '@jest/globals';
import { prefersStrictHandling } from './prefer.js';

describe('Prefer', () => {
  it.each([
    'handling=strict',
    'Handling = Strict',
    'respond-async, wait=100, handling=strict',
    'handling="strict"',
    'handling=strict; x=1',
    'handling=strict, handling=lenient',
  ])('%j asks for strict handling', (field) => expect(prefersStrictHandling(field)).toBe(true));

  it.each([
    '',
    'handling',
    'handling=lenient',
    'handling=lenient, handling=strict',
    'strict',
    'xhandling=strict',
    'return=minimal',
    'handling=strictly',
  ])('%j does not', (field) => expect(prefersStrictHandling(field)).toBe(false));
});
