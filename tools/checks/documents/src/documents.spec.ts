import { readText } from '@animal-store/checks/workspace';
import { expect, it } from '@jest/globals';
import { DOCUMENTS } from './documents.js';

it.each(Object.entries(DOCUMENTS))('%s is up to date: `npx nx documents checks` writes it', (file, render) => {
  expect(readText(file)).toBe(render());
});
