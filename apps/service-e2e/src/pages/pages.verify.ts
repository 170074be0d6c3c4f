import { readFile, writeFile } from 'node:fs/promises';
import { screenshot, useBrowser } from '@animal-store/api-e2e/support/browser';
import { useOwnService } from '@animal-store/api-e2e/support/use-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityViolations, DESKTOP, DISPLAYS, expectAccessible, PAGES, REFERENCE } from './pages.js';
import { describeReferencePage } from './reference-page.js';

// `npm test` tests a representative page on each device in each theme.

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

it.each(['light', 'dark'] as const)('operations of other methods are accessible in the %s theme', async (colorScheme) => {
  const methods = ['put', 'patch', 'delete'];
  const changed = await browser.open('/docs', { viewport: DESKTOP, colorScheme });
  await changed.route('**/openapi.json', async (route) => {
    const document = (await (await route.fetch()).json()) as { paths: Record<string, object> };
    const content = { 'application/json': {}, 'application/merge-patch+json': {} };
    const operation = { tags: ['pets'], summary: 'Change', requestBody: { content }, responses: { 204: { description: 'Changed' } } };
    document.paths = { '/any': Object.fromEntries(methods.map((method) => [method, { ...operation, operationId: method }])) };
    await route.fulfill({ json: document });
  });
  await changed.goto(own.api.target.baseUrl + REFERENCE);
  for (const method of methods) await changed.locator(`#operations-pets-${method} .opblock-summary-control`).click();
  await changed.locator('#operations-pets-delete').getByLabel('Request content type').waitFor();
  await screenshot(changed, `reference-methods-${colorScheme}`, { fullPage: true });
  expect(await accessibilityViolations(changed)).toEqual([]);
  await changed.close();
});

/** Returns the share of the pixels that differ between two pictures in Base64. */
const DIFFERENCE = `async ([one, other]) => {
  const pixelsOf = async (base64) => {
    const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    context.drawImage(picture, 0, 0);
    return new Uint32Array(context.getImageData(0, 0, picture.width, picture.height).data.buffer);
  };
  const [pixels, others] = [await pixelsOf(one), await pixelsOf(other)];
  return pixels.filter((pixel, index) => pixel !== others[index]).length / pixels.length;
}`;

// Another machine may have another font. RECORD_PICTURES=1 takes the pictures again.
it.each(['light', 'dark'] as const)('README.md shows the page of the guides in the %s theme', async (colorScheme) => {
  const home = await browser.open('/docs', { viewport: { width: 1280, height: 800 }, colorScheme });
  const picture = await home.screenshot();
  const file = new URL(`../../../../docs/images/guides-${colorScheme}.png`, import.meta.url);
  if (process.env['RECORD_PICTURES']) await writeFile(file, picture);
  const pictures = [picture, await readFile(file)].map((bytes) => JSON.stringify(bytes.toString('base64')));
  expect(await home.evaluate<number>(`(${DIFFERENCE})([${pictures.join()}])`)).toBeLessThan(0.05);
  await home.close();
});

describeReferencePage(own, browser, ['desktop', 'phone'], { isComplete: true });

it('the browser reports no errors and no requests to other origins', () => {
  expect(browser.problems).toEqual([]);
});
