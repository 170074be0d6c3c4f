/** `npx nx record-release checks`: writes the folder `docs/releases/<version>`, with which later releases are compared. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  COMMIT_OF_RELEASE,
  hashOf,
  migrationFiles,
  MIGRATIONS_OF_RELEASE,
  openApiFiles,
  RELEASES,
  STATEMENTS_OF_RELEASE,
} from './releases.js';
import { readText, ROOT } from './workspace.js';

const { version } = JSON.parse(readText('apps/api/package.json')) as { version: string };
const folder = join(ROOT, RELEASES, version);
if (existsSync(folder)) fail(`${RELEASES}/${version} exists. Run npx nx release --skip-publish first`);
if (!readText('CHANGELOG.md').includes(`## ${version} (`)) fail(`CHANGELOG.md has no section "## ${version} (<date>)"`);

mkdirSync(folder, { recursive: true });
for (const file of openApiFiles()) writeFileSync(join(folder, basename(file)), readText(file));
const hashes = Object.fromEntries(migrationFiles().map((file) => [file, hashOf(file)]));
writeFileSync(join(folder, MIGRATIONS_OF_RELEASE), `${JSON.stringify(hashes, undefined, 2)}\n`);
writeFileSync(join(folder, COMMIT_OF_RELEASE), execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT }));
console.log(`${RELEASES}/${version} is written. Add the SQL statements as ${STATEMENTS_OF_RELEASE} (ADR 13), commit, and tag v${version}`);

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}
