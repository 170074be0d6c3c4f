import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { missingParts, PAGE, sectionsOf } from './tutorial.js';
import { expectSuccess, testAll, WorkspaceCopy } from './workspace-copy.js';

/** For `npm test` of the whole workspace. */
const TIMEOUT_MS = 1_800_000;
jest.setTimeout(TIMEOUT_MS);

let copy: WorkspaceCopy;
/** Lines of the page that define functions for the lines of later sections. */
const functions = sectionsOf(PAGE)
  .flatMap(({ commands }) => commands)
  .filter((line) => line.includes('() {'));

beforeAll(async () => {
  copy = await WorkspaceCopy.create();
  // Another team has added a context, with entries in the same lists.
  expectSuccess(await copy.shell('npx nx g @animal-store/tools:context invoices'));
  await copy.commit();
}, TIMEOUT_MS);
afterAll(() => copy.remove());

it.each(sectionsOf(PAGE).filter(({ commands }) => commands.length > 0))('$title', async ({ commands, excerpts }) => {
  expectSuccess(await copy.shell([...functions, ...commands].join('\n')));
  for (const excerpt of excerpts) {
    const path = excerpt.path.replace('TIME', timeOfMigration());
    expect([path, missingParts(excerpt, readFileSync(join(copy.folder, path), 'utf8'))]).toEqual([path, []]);
  }
});

it('only the files of the contexts, and files that the generator writes, have changed', async () => {
  const { output } = await copy.git('status', '--porcelain');
  const changed = output.split('\n').flatMap((line) => line.slice(3) || []);
  const others = changed.filter(
    (path) => !/^(?:libs\/(?:orders|pets)\/|apps\/api-e2e\/src\/contexts\/|libs\/client\/src\/orders|docs\/guides\/orders)/.test(path),
  );
  expect(others).toEqual([
    '.github/CODEOWNERS',
    'apps/api/src/registered-contexts.ts',
    'apps/api/tsconfig.json',
    'docs/architecture.md',
    'docs/guides/README.md',
    'docs/guides/authentication.md',
    'docs/guides/changelog.md',
    'docs/guides/errors.md',
    'docs/openapi.json',
    'libs/client/src/animal-store.ts',
    'libs/client/src/index.ts',
    'libs/client/src/openapi.generated.ts',
    'package-lock.json',
    'tsconfig.json',
  ]);
});

it('`npm test` passes', async () => {
  const output = expectSuccess(await testAll(copy));
  for (const project of ['orders-domain', 'orders-application', 'orders-infrastructure', 'orders-testing', 'api-e2e']) {
    const log = output.split(/^> nx run /m).find((text) => text.startsWith(`${project}:test`));
    expect([project, log]).toEqual([project, expect.stringMatching(/^Tests: +[1-9][0-9]* passed/m)]);
  }
});

function timeOfMigration(): string {
  const [file = ''] = readdirSync(join(copy.folder, 'libs/orders/infrastructure/src/migrations'));
  return file.replace(/-.*/, '');
}
