import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityViolations } from '../support/accessibility.js';
import { PHONE, screenshot } from '../support/browser.js';
import { readSamples } from './samples.js';

export const DESKTOP = { width: 1440, height: 900 };
export const REFERENCE = '/docs/reference';
/** The paths of all pages. */
export const PAGES = [...readSamples().keys()].map((name) => (name === 'README' ? '/docs' : `/docs/${name}`));

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
