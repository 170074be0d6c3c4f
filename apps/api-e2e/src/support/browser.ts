import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import bundled from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium, type Page, type PageScreenshotOptions } from 'playwright-core';
import type { Api } from './api.js';

const TIMEOUT_MS = 120_000;
export const PHONE = { width: 375, height: 812 };

/** Launches the Chromium of an npm package on Linux x64, and the installed Chrome elsewhere. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return chromium.launch({ channel: 'chrome' });
  // The default arguments of the package include --disable-web-security, which would disable what this suite tests.
  return chromium.launch({ executablePath: await bundled.executablePath(), args: ['--no-sandbox', '--disable-gpu'] });
}

export interface SpecBrowser {
  /** Console errors and warnings, script errors, Content-Security-Policy violations and requests to other origins. */
  readonly problems: readonly string[];
  /** Opens a page of the service in a new browser context. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
}

/** Starts a browser before the tests of the file, and closes it after them. */
export function useBrowser({ api }: { readonly api: Api }): SpecBrowser {
  const problems: string[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return {
    problems,
    async open(path, options) {
      if (!browser) throw new Error('there is no browser');
      const page = await browser.newPage(options);
      // Playwright's default of 30 s is too short for a busy machine.
      page.setDefaultTimeout(TIMEOUT_MS);
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) problems.push(message.text());
      });
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url());
        if (origin !== api.url.origin && protocol !== 'data:') problems.push(request.url());
      });
      await page.addInitScript(
        `addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, event.blockedURI))`,
      );
      await page.goto(api.target.baseUrl + path);
      return page;
    },
  };
}

/** Saves a screenshot of a page in the folder SCREENSHOTS, if set. */
export async function screenshot(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder) await page.screenshot({ ...options, path: join(folder, `${name}.png`) });
}
