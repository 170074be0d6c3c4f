import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { GlobalConfig, ProjectConfig } from 'jest';
import { startPostgres } from './postgres.ts';

/** Starts one PostgreSQL for the integration specs of this Jest run, unless TEST_POSTGRES_URL names a server. */
export default async function setUp({ testPathPatterns }: GlobalConfig, { roots }: ProjectConfig): Promise<void> {
  if (process.env['TEST_POSTGRES_URL'] || !hasIntegrationSpecs(roots, testPathPatterns.patterns)) return;
  const server = await startPostgres();
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
