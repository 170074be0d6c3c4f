import { describe, expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';
import { DOCUMENTS } from './documents.js';
import { promisesIn } from './promises.js';

it.each(Object.entries(DOCUMENTS))('%s is up to date: `npx nx documents checks` writes it', (file, render) => {
  expect(readText(file)).toBe(render());
});

describe('a promise', () => {
  const promise = '// Promise (Overload): Probes are exempt.';

  it.each([
    [`${promise}\nconst x = 1;\n`, 'a.spec.ts:1: a promise must be directly above describe or it'],
    ['// Promise (Speed): It is fast.\nit(\n', /^a\.spec\.ts:1: the group must be one of Rate limits, /],
  ])('is rejected without a test or with an unknown group: %j', (source, message) => {
    expect(() => promisesIn('a.spec.ts', source)).toThrow(message);
  });
});
