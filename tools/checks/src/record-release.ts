/**
 * `npx nx record-release checks`: writes the folder `docs/releases/<version>`, with which later releases are compared. Before it, the target
 * `record-statements` of `service-e2e` writes the SQL statements.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { COMMIT_OF_RELEASE, hashOf, migrationFiles, MIGRATIONS_OF_RELEASE, openApiFiles, RELEASES } from './releases.js';
import { readText, ROOT } from './workspace.js';

const { version } = JSON.parse(readText('apps/api/package.json')) as { version: string };
const folder = join(ROOT, RELEASES, version);
if (git('tag', '--list', `v${version}`) !== '') fail(`v${version} is tagged. Run npx nx release --skip-publish first`);
if (!readText('CHANGELOG.md').includes(`## ${version} (`)) fail(`CHANGELOG.md has no section "## ${version} (<date>)"`);

mkdirSync(folder, { recursive: true });
for (const file of openApiFiles()) writeFileSync(join(folder, basename(file)), readText(file));
const hashes = Object.fromEntries(migrationFiles().map((file) => [file, hashOf(file)]));
writeFileSync(join(folder, MIGRATIONS_OF_RELEASE), `${JSON.stringify(hashes, undefined, 2)}\n`);
writeFileSync(join(folder, COMMIT_OF_RELEASE), git('rev-parse', 'HEAD'));
console.log(`${RELEASES}/${version} is written. Commit it, and tag v${version}`);

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}
