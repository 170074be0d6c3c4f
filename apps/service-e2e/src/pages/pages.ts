import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { PHONE, screenshot } from '@animal-store/api-e2e/support/browser';
import { expect } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const GUIDES = join(import.meta.dirname, '../../../api/guides/*.html');

export const DESKTOP = { width: 1440, height: 900 };
export const REFERENCE = '/docs/reference';
/** The paths of all pages. */
export const PAGES = globSync(GUIDES)
  .map((file) => basename(file, '.html'))
  .filter((name) => name !== 'not-found')
  .map((name) => (name === 'index' ? '/docs' : `/docs/${name}`));

const VIEWPORTS = { desktop: DESKTOP, phone: PHONE };
export type Device = keyof typeof VIEWPORTS;
export type Theme = 'light' | 'dark';

export const DISPLAYS: readonly (readonly [Device, Theme])[] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
  ['desktop', 'dark'],
  ['phone', 'light'],
];

/** Expects that a page is accessible on a device in a theme, and that it fits the width of the screen. */
export async function expectAccessible(
  page: Page,
  baseUrl: string,
  path: string,
  [device, theme]: readonly [Device, Theme],
): Promise<void> {
  await page.setViewportSize(VIEWPORTS[device]);
  await page.emulateMedia({ colorScheme: theme });
  await page.goto(baseUrl + path);
  if (path === REFERENCE) await page.locator('#operations-pets-listPets').waitFor();
  await screenshot(page, `${path.split('/').at(-1)}-${device}-${theme}`, { fullPage: true });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(VIEWPORTS[device].width);
  expect(await accessibilityViolations(page)).toEqual([]);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns only the violations, since the full results are several hundred kilobytes. */
const RUN = `axe.run({ resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations)`;

/** Returns the violations that axe-core finds on the displayed page, by all of its rules. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate<AxeResults['violations']>(RUN);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`));
}
