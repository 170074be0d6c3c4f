import { PHONE, useBrowser } from '@animal-store/api-e2e/support/browser';
import { linksOf } from '@animal-store/api-e2e/support/http-response';
import { useOwnService } from '@animal-store/api-e2e/support/use-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityViolations, DESKTOP, DISPLAYS, expectAccessible, PAGES } from './pages.js';
import { describeReferencePage } from './reference-page.js';

/** Links to other sites and to a service of the reader. The tests do not request them. */
const EXTERNAL_LINKS = /^https:\/\/|^http:\/\/localhost:3000\//;

const own = useOwnService();
const browser = useBrowser(own);
const open = (path: string) => browser.open(path, { viewport: DESKTOP });

describe('accessibility', () => {
  let page: Page;

  beforeAll(async () => {
    page = await browser.open('/docs');
  });
  afterAll(() => page.close());

  // The page of the reference is tested below, with its operations open. The suite `pages` tests every page on each device in each theme.
  const representative = DISPLAYS.map((display, index) => [index % 3 === 0 ? '/docs' : '/docs/quickstart', display] as const);

  it.each(representative)('%s is accessible and fits the screen width: %j', (path, display) =>
    expectAccessible(page, own.api.target.baseUrl, path, display),
  );
});

describe('a new user', () => {
  it('finds and copies the first request, with the URL of this service', async () => {
    const page = await open('/docs');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('main').getByRole('link', { name: 'Quickstart' }).click();
    await page.getByRole('heading', { level: 1, name: 'Quickstart' }).waitFor();
    const request = page.getByRole('tabpanel').first();
    await request.getByRole('button', { name: 'Copy' }).click();
    await request.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl -H "Authorization: Bearer $API_KEY" ${own.api.target.baseUrl}/v1/pets`,
    );
    await page.close();
  });

  it('selects a language by keyboard for all pages', async () => {
    const page = await open('/docs/quickstart');
    await page.getByRole('tab', { name: 'curl' }).first().focus();
    // A key that is not prevented scrolls the page.
    await page.evaluate(`addEventListener('keydown', (event) => (document.title = String(event.defaultPrevented)))`);
    await page.keyboard.press('End');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Go');
    expect(await page.title()).toBe('true');
    await page.getByRole('navigation', { name: 'Documentation' }).getByRole('link', { name: 'Pagination' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pagination' }).waitFor();
    expect(await page.getByRole('tab', { selected: true }).allInnerTexts()).toEqual(['Go']);
    expect(await page.getByRole('tabpanel').innerText()).toContain('package main');
    await page.close();
  });

  it('selects the dark theme for all pages', async () => {
    const page = await open('/docs');
    const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Dark mode', pressed: false }).click();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.goto(`${own.api.target.baseUrl}/docs/errors`);
    expect(await background()).toBe(dark);
    await page.close();
  });

  it('finds what a caller or an operator means', async () => {
    const page = await open('/docs');
    await page.keyboard.press('Control+k');
    for (const [word, title] of [
      ['sort', 'Pagination'],
      ['webhook', 'Poll for new animals'],
      ['changes since', 'Poll for new animals'],
      ['sync', 'Mirror the catalogue'],
      ['mirror', 'Mirror the catalogue'],
      ['import', 'Import animals'],
      ['SDK', 'TypeScript client'],
      ['helm', 'Deployment'],
      ['postgres', 'A managed PostgreSQL'],
    ] as const) {
      await page.getByRole('searchbox').fill(word);
      await page.getByRole('dialog').getByRole('listitem').getByText(title).first().waitFor();
    }
    await page.close();
  });

  it('opens the navigation on a phone', async () => {
    const page = await browser.open('/docs/errors', { viewport: PHONE });
    const navigation = page.getByRole('navigation', { name: 'Documentation' });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await navigation.getByRole('link', { name: 'Rate limits' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rate limits' }).waitFor();
    await page.close();
  });

  it('opens the table of contents on a phone', async () => {
    const page = await browser.open('/docs/errors', { viewport: PHONE });
    await page.locator('summary').click();
    await page.getByRole('link', { name: 'rate_limited', exact: true }).filter({ visible: true }).first().click();
    await page.waitForURL('**/docs/errors#rate_limited');
    await page.close();
  });

  it('skips to the content by keyboard', async () => {
    const page = await open('/docs/errors');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.close();
  });

  it('reads every sample without JavaScript', async () => {
    const page = await browser.open('/docs/quickstart', { javaScriptEnabled: false });
    expect(await page.getByText('urllib.request.urlopen').first().isVisible()).toBe(true);
    await page.close();
  });

  it('follows the help link of an error response to the explanation of its code', async () => {
    const response = await own.api.get('/v1/pets?limit=0');
    const { code } = JSON.parse(response.text) as { code: string };
    const [help = ''] = linksOf(response, 'help');
    const page = await open(help);
    expect(await page.locator(':target').innerText()).toContain(code);
    await page.close();
  });

  it('searches all pages by keyboard, and opens a result', async () => {
    const page = await open('/docs/quickstart');
    await page.keyboard.press('/');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await page.keyboard.type('idempotency reused');
    await dialog
      .getByRole('status')
      .getByText(/^[1-9][0-9]* results?$/)
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/errors#idempotency_key_reused');
    await page.close();
  });

  it('finds an operation, from the home page', async () => {
    const page = await open('/docs');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.keyboard.type('createpet');
    await page.getByRole('dialog').getByRole('link', { name: 'createPet' }).first().click();
    await page.waitForURL('**/docs/reference#/pets/createPet', { waitUntil: 'commit' });
    await page.close();
  });

  it('copies the link to a section', async () => {
    const page = await open('/docs/errors');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('link', { name: 'Copy the link to Handle errors' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${own.api.target.baseUrl}/docs/errors#handle-errors`);
    await page.close();
  });
});

/** Returns the values of an attribute in an HTML page, whose text escapes `&` and quotes. */
function valuesOf(html: string, pattern: RegExp): string[] {
  return [...html.matchAll(pattern)].flatMap(([, value = '']) => value.replaceAll('&amp;', '&'));
}

describe('links', () => {
  it('are not broken on any page that can be reached from /docs', async () => {
    const start = new URL('/docs', own.api.url).href;
    const visited = new Map<string, ReadonlySet<string>>();
    const links: { from: string; to: string }[] = [{ from: '', to: start }];
    const dead: string[] = [];
    // The loop appends to this list.
    for (const { from, to } of links) {
      const { origin, pathname, hash, href } = new URL(to);
      if (origin !== own.api.url.origin) {
        if (!EXTERNAL_LINKS.test(href)) dead.push(`${from} → ${to}`);
        continue;
      }
      if (!visited.has(pathname)) {
        const { status, text } = await own.api.get(pathname);
        if (status !== 200) dead.push(`${from} → ${to}`);
        visited.set(pathname, new Set(valuesOf(text, / id="([^"]+)"/g)));
        const found = valuesOf(text, /<a (?:[^>]* )?href="([^"]+)"/g).map((target) => new URL(target, origin + pathname).href);
        links.push(...found.map((target) => ({ from: pathname, to: target })));
      }
      if (hash !== '' && !hash.startsWith('#/') && !visited.get(pathname)?.has(hash.slice(1))) dead.push(`${from} → ${to}`);
    }
    expect(dead).toEqual([]);
    expect([...visited.keys()].sort()).toEqual([...PAGES, '/openapi.json'].sort());
    expect(links.length).toBeGreaterThan(100);
  });
});

describeReferencePage(own, browser, ['desktop'], { isComplete: false });

it('the browser reports no errors and no requests to other origins', () => {
  expect(browser.problems).toEqual([]);
});
