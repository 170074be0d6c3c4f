import { describe, expect, it } from '@jest/globals';
import { readText } from '@animal-store/checks/workspace';
import { DOCUMENTS } from './documents.js';
import { promisesIn, renderPromises } from './promises.js';

it.each(Object.entries(DOCUMENTS))('%s is up to date: `npx nx documents checks` writes it', (file, render) => {
  expect(readText(file)).toBe(render());
});

describe('a promise', () => {
  const promise = '// Promise (Overload): Probes are exempt.';

  it('is a comment above a test, and has a link to its first test', () => {
    const promises = ['a.spec.ts', 'b.verify.ts'].flatMap((file) => promisesIn(file, `  ${promise}\n  it.each([\n`));
    expect(renderPromises(promises, [])).toMatch(/\n## Overload\n\n- \[Probes are exempt\.\]\(\.\.\/a\.spec\.ts\)\n$/);
  });

  it.each([
    [`${promise}\nconst x = 1;\n`, 'a.spec.ts:1: a promise must be directly above describe or it'],
    ['// Promise (Speed): It is fast.\nit(\n', /^a\.spec\.ts:1: the group must be one of Rate limits, /],
  ])('is rejected without a test or with an unknown group: %j', (source, message) => {
    expect(() => promisesIn('a.spec.ts', source)).toThrow(message);
  });
});

it('the page shows the results of faults with their promises, and numbers of the code', () => {
  const suite = 'a.verify.ts';
  const verdict = { acknowledged: 1_234, stored: 1_235, lost: 0, duplicates: 2 };
  const faults = [
    { fault: 'kill', runs: 2, figures: { 'Recovery, s': 0.4, Errors: 0 } },
    { fault: 'overload', runs: 1, figures: { Errors: 3 } },
  ];
  const record = { command: 'npm run chaos', suite, machine: '2 cores', date: '2026-01-31', commit: 'abc', verdict, faults };
  const page = renderPromises(promisesIn(suite, '// Promise (Overload): Probes are exempt.\nit(\n'), [record]);
  expect(page).toContain(`
### \`npm run chaos\`

[Probes are exempt.](../a.verify.ts)

2 cores, 2026-01-31, commit abc. 1,234 acknowledged writes: 0 lost, 2 repeated.

| Fault    | Runs of each fault | Recovery, s | Errors |
| -------- | -----------------: | ----------: | -----: |
| kill     |                  2 |         0.4 |      0 |
| overload |                  1 |           – |      3 |
`);
  expect(page).toContain('\n- `fuzz`: 100,000 hostile requests.');
});
