import { describe, expect, it } from '@jest/globals';
import { prefersStrictHandling } from './prefers-strict-handling.js';

describe('Prefer', () => {
  it.each([
    'handling=strict',
    'Handling = Strict',
    'respond-async, wait=100, handling=strict',
    'handling="strict"',
    'handling=strict; x=1',
    ' handling = "STRICT" ;x',
    ',, ;x, a b, handling=strict',
    'handling=strict, handling=lenient',
  ])('%j requests strict handling', (field) => expect(prefersStrictHandling(field)).toBe(true));

  it.each([
    '',
    'handling',
    'handling=lenient',
    'handling=lenient, handling=strict',
    'strict',
    'xhandling=strict',
    'return=minimal',
    'handling=strictly',
    'handling="strict',
    'handling="strict; x"',
    'handling =',
  ])('%j does not request strict handling', (field) => expect(prefersStrictHandling(field)).toBe(false));
});
