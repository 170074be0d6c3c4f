import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { Browser, Locator, Page } from 'playwright-core';
import { accessibilityViolations } from '../support/accessibility.js';
import { useOwnService } from '../support/use-api.js';
import { launchBrowser } from './browser.js';

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 375, height: 812 };
const SCREENSHOTS = process.env['SCREENSHOTS'] ?? join(import.meta.dirname, '../../test-results');

/** Beyond 2^53: a number of JavaScript would be the even one next to it. */
const ID = '9007199254740993';
const CATEGORY_ID = '9223372036854775807';

const own = useOwnService();
/** Errors of the console and of scripts, violations of the Content-Security-Policy, requests to elsewhere. */
const problems: string[] = [];
let browser: Browser | undefined;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
});

async function openReference(viewport: typeof DESKTOP | typeof PHONE, colorScheme: 'light' | 'dark'): Promise<Page> {
  if (!browser) throw new Error('there is no browser');
  const opened = await browser.newPage({ viewport, colorScheme });
  opened.on('pageerror', (error) => problems.push(String(error)));
  opened.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  opened.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== own.api.url.origin && protocol !== 'data:') problems.push(request.url());
  });
  await opened.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, event.blockedURI))`,
  );
  await opened.goto(`${own.api.target.baseUrl}/docs/reference`);
  return opened;
}

const operation = (id: string): Locator => page.locator(`#operations-pets-${id}`);

/** Presses Execute and returns the answer as it is shown: status and body. */
async function execute(id: string): Promise<[status: string, body: string]> {
  await operation(id).getByRole('button', { name: 'Execute' }).click();
  const answer = operation(id).locator('.live-responses-table tbody tr.response');
  return [await answer.locator('.response-col_status').innerText(), await answer.locator('.highlight-code pre').innerText()];
}

/** Keeps a picture of the whole page, or of what is on the screen once `from` is at its top. */
async function screenshot(name: string, from?: string): Promise<void> {
  const fullPage = from === undefined;
  if (!fullPage) await page.evaluate(`document.querySelector('${from}').scrollIntoView()`);
  await page.screenshot({ path: join(SCREENSHOTS, `reference-page-${name}.png`), fullPage });
}

describe.each([
  ['desktop', DESKTOP, 'dark'],
  ['phone', PHONE, 'light'],
] as const)('the reference page on a %s', (device, viewport, colorScheme) => {
  beforeAll(async () => {
    await emptyStore(ID);
    page = await openReference(viewport, colorScheme);
    await operation('listPets').waitFor();
  });
  afterAll(() => page.close());

  it('has a title', async () => {
    expect(await page.title()).toBe('API reference · Animal Store API');
    await screenshot(device);
  });

  it('takes a key', async () => {
    await page.getByRole('button', { name: 'Authorize' }).click();
    const dialog = page.locator('.dialog-ux');
    await dialog.getByRole('textbox').fill(own.api.target.key);
    await dialog.getByRole('button', { name: 'Apply credentials' }).click();
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await dialog.waitFor({ state: 'hidden' });
  });

  it('tries createPet, and shows the answer digit for digit', async () => {
    await operation('createPet').locator('.opblock-summary-control').click();
    const example = await operation('createPet').locator('textarea.body-param__text').inputValue();
    expect(example).toBe(`{\n  "name": "Rex",\n  "categoryId": ${ID},\n  "status": "available"\n}`);
    await operation('createPet').locator('textarea.body-param__text').fill(`{"name":"Rex","categoryId":${CATEGORY_ID}}`);
    expect(await execute('createPet')).toEqual([
      '201',
      `{\n  "id": ${ID},\n  "name": "Rex",\n  "categoryId": ${CATEGORY_ID},\n  "status": "available"\n}`,
    ]);
  });

  it('tries listPets, and shows the answer digit for digit', async () => {
    await operation('listPets').locator('.opblock-summary-control').click();
    expect(await execute('listPets')).toEqual([
      '200',
      `[\n  {\n    "id": ${ID},\n    "name": "Rex",\n    "categoryId": ${CATEGORY_ID},\n    "status": "available"\n  }\n]`,
    ]);
  });

  it('tries getPet, and shows the answer digit for digit', async () => {
    await operation('getPet').locator('.opblock-summary-control').click();
    await operation('getPet').getByPlaceholder('petId').fill(ID);
    expect(await execute('getPet')).toEqual([
      '200',
      `{\n  "id": ${ID},\n  "name": "Rex",\n  "categoryId": ${CATEGORY_ID},\n  "status": "available"\n}`,
    ]);
  });

  it('is no wider than the screen, with all operations open and answered', async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    await screenshot(`${device}-operation`, '#operations-pets-createPet');
    await screenshot(`${device}-answer`, '#operations-pets-createPet .responses-wrapper');
  });

  it('is accessible, with all operations open and answered', async () => {
    await screenshot(`${device}-${colorScheme}`);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

it('nothing was asked of another origin, and nothing went wrong in the browser', () => {
  expect(problems).toEqual([]);
});

/** Removes all animals and sets the identifier of the next one. */
async function emptyStore(id: string): Promise<void> {
  const client = new Client({ connectionString: own.databaseUrl });
  await client.connect();
  try {
    await client.query('TRUNCATE pets.pets');
    await client.query(
      `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, $1, false) FROM pg_sequences WHERE schemaname = 'pets'`,
      [id],
    );
  } finally {
    await client.end();
  }
}
