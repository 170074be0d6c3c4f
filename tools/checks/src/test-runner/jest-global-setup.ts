import { globSync } from 'node:fs';
import { startPostgres } from './postgres.ts';

/** Starts one PostgreSQL for the integration specs of this Jest run, unless TEST_POSTGRES_URL names a server. */
export default async function setUp({ rootDir }: { readonly rootDir: string }): Promise<void> {
  if (process.env['TEST_POSTGRES_URL'] || !hasIntegrationSpecs(rootDir)) return;
  const server = await startPostgres();
  process.env['TEST_POSTGRES_URL'] = server.url;
  Object.assign(globalThis, { stopPostgres: () => server.stop() });
}

function hasIntegrationSpecs(folder: string): boolean {
  const exclude = (name: string) => name === 'node_modules' || name === 'dist';
  return globSync('**/src/**/*.{integration.spec,verify}.ts', { cwd: folder, exclude }).length > 0;
}
