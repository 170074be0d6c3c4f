import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as LocalPostgres from '@animal-store/local-postgres/testing';
import type { GlobalConfig, ProjectConfig } from 'jest';

const TSC = join(createRequire(import.meta.url).resolve('@typescript/7/package.json'), '../bin/tsc');
const LIBRARY = '../../../../libs/local-postgres';
/** JavaScript, because Jest transforms the `import()` of TypeScript. */
const PACKAGES: string = './packages.js';
/** The package name would resolve to the sources here, which Node.js cannot run. */
const BUILT_LIBRARY: string = `${LIBRARY}/dist/testing/index.js`;

/** Bundles packages, and starts one PostgreSQL for the integration specs of this Jest run, unless TEST_POSTGRES_URL names a server. */
export default async function setUp({ testPathPatterns }: GlobalConfig, { roots }: ProjectConfig): Promise<void> {
  const { bundlePackages } = (await import(PACKAGES)) as { bundlePackages: () => Promise<string> };
  process.env['JEST_PACKAGES'] = await bundlePackages();
  if (process.env['TEST_POSTGRES_URL'] || !hasIntegrationSpecs(roots, testPathPatterns.patterns)) return;
  execFileSync(process.execPath, [TSC, '--build', join(import.meta.dirname, LIBRARY)], { stdio: 'inherit' });
  const { startThrowAwayPostgres } = (await import(BUILT_LIBRARY)) as typeof LocalPostgres;
  const server = await startThrowAwayPostgres();
  process.env['TEST_POSTGRES_URL'] = server.url;
  Object.assign(globalThis, { stopPostgres: () => server.stop() });
}

function hasIntegrationSpecs(roots: readonly string[], patterns: readonly string[]): boolean {
  const exclude = (name: string) => name === 'node_modules' || name === 'dist';
  const specs = roots.flatMap((root) =>
    globSync('**/*.{integration.spec,verify}.ts', { cwd: root, exclude }).map((file) => join(root, file)),
  );
  return specs.some((file) => patterns.length === 0 || patterns.some((pattern) => new RegExp(pattern, 'i').test(file)));
}
