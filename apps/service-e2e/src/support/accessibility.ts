import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns only the violations, since the full results are several hundred kilobytes. */
const RUN = `axe.run({ resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations)`;

/** Returns the violations that axe-core finds on the displayed page, by all of its rules. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate<AxeResults['violations']>(RUN);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`));
}
