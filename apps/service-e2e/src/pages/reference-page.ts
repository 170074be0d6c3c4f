import { PHONE, screenshot, type SpecBrowser } from '@animal-store/api-e2e/support/browser';
import type { OwnService } from '@animal-store/api-e2e/support/use-api';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { accessibilityViolations } from './pages.js';

const DEVICES = {
  desktop: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: PHONE, colorScheme: 'light' },
} as const;

/** Above 2^53: a JavaScript number would round it to an even number. */
const ID = '9007199254740993';
const CATEGORY_ID = '9223372036854775807';
const PET = `{\n  "id": ${ID},\n  "name": "Rex",\n  "categoryId": ${CATEGORY_ID},\n  "status": "available"\n}`;

/** Defines the tests of the page at /docs/reference, if complete with all operations and axe. Replaces the pets of the service. */
export function describeReferencePage(
  own: OwnService,
  browser: SpecBrowser,
  devices: readonly (keyof typeof DEVICES)[],
  { isComplete }: { readonly isComplete: boolean },
): void {
  let page: Page;

  const operation = (id: string): Locator => page.locator(`#operations-pets-${id}`);

  /** Clicks Execute and returns the displayed status and body of the response. */
  async function execute(id: string): Promise<[status: string, body: string]> {
    await operation(id).getByRole('button', { name: 'Execute' }).click();
    const response = operation(id).locator('.live-responses-table tbody tr.response');
    return [await response.locator('.response-col_status').innerText(), await response.locator('.highlight-code pre').innerText()];
  }

  /** Scrolls to an element and takes a screenshot. */
  async function screenshotFrom(selector: string, name: string): Promise<void> {
    await page.evaluate(`document.querySelector('${selector}').scrollIntoView()`);
    await screenshot(page, name);
  }

  describe.each(devices)('the reference page on a %s', (device) => {
    const { viewport, colorScheme } = DEVICES[device];

    beforeAll(async () => {
      await resetPets(own.databaseUrl, ID);
      page = await browser.open('/docs/reference#/pets/createPet', { viewport, colorScheme });
    });
    afterAll(() => page.close());

    it('has a title and opens the operation of a link', async () => {
      await page.locator('#operations-pets-createPet.is-open').waitFor();
      expect(await page.title()).toBe('API reference · Animal Store API');
      // All errors are one response, whose codes are links.
      await operation('createPet').getByRole('link', { name: 'rate_limited' }).waitFor();
      expect(await operation('createPet').locator('tbody .response-col_status').allInnerTexts()).toEqual(['201', 'default']);
      await screenshot(page, `reference-page-${device}`, { fullPage: true });
    });

    it('accepts an API key', async () => {
      await page.getByRole('button', { name: 'Authorize' }).click();
      const dialog = page.locator('.dialog-ux');
      await dialog.getByRole('textbox').fill(own.api.target.key);
      await dialog.getByRole('button', { name: 'Apply credentials' }).click();
      await dialog.getByRole('button', { name: 'Close' }).first().click();
      await dialog.waitFor({ state: 'hidden' });
    });

    it('executes createPet and shows the response with exact integers', async () => {
      const example = await operation('createPet').locator('textarea.body-param__text').inputValue();
      expect(example).toBe(`{\n  "name": "Rex",\n  "categoryId": ${ID},\n  "status": "available"\n}`);
      await operation('createPet').locator('textarea.body-param__text').fill(`{"name":"Rex","categoryId":${CATEGORY_ID}}`);
      expect(await execute('createPet')).toEqual(['201', PET]);
    });

    if (!isComplete) return;

    it.each([
      ['listPets', `[\n  ${PET.replaceAll('\n', '\n  ')}\n]`],
      ['getPet', PET],
    ])('executes %s and shows the response with exact integers', async (id, body) => {
      await operation(id).locator('.opblock-summary-control').click();
      if (id === 'getPet') await operation(id).getByPlaceholder('petId').fill(ID);
      expect(await execute(id)).toEqual(['200', body]);
    });

    it('fits the screen width with all operations and responses open', async () => {
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      await screenshotFrom('#operations-pets-createPet', `reference-page-${device}-operation`);
      await screenshotFrom('#operations-pets-createPet .responses-wrapper', `reference-page-${device}-response`);
    });

    it('is accessible with all operations and responses open', async () => {
      await screenshot(page, `reference-page-${device}-${colorScheme}`, { fullPage: true });
      expect(await accessibilityViolations(page)).toEqual([]);
    });
  });
}

/** Removes all pets and sets the id of the next one. */
async function resetPets(databaseUrl: string, id: string): Promise<void> {
  const sequence = "format('%I.%I', schemaname, sequencename)::regclass";
  await query(
    databaseUrl,
    'TRUNCATE pets.pets CASCADE',
    `SELECT setval(${sequence}, ${id}, false) FROM pg_sequences WHERE schemaname = 'pets'`,
  );
}
