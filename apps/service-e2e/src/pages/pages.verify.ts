import { useBrowser } from '@animal-store/api-e2e/support/browser';
import { useOwnService } from '@animal-store/api-e2e/support/use-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DISPLAYS, expectAccessible, PAGES } from './pages.js';

// `npm test` tests representative pages on each device in each theme, and each other page once.

const own = useOwnService();
const browser = useBrowser(own);
let page: Page;

beforeAll(async () => {
  page = await browser.open('/docs');
});
afterAll(() => page.close());

describe.each(DISPLAYS)('on a %s in the %s theme', (...display) => {
  it.each(PAGES)('%s is accessible and fits the screen width', (path) => expectAccessible(page, own.api.target.baseUrl, path, display));
});

it('the browser reports no errors and no requests to other origins', () => {
  expect(browser.problems).toEqual([]);
});
