import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as LocalPostgres from '@animal-store/local-postgres/testing';

const TSC = join(createRequire(import.meta.url).resolve('@typescript/7/package.json'), '../bin/tsc');
const LIBRARY = '../../../../libs/local-postgres';
/** The package name would resolve to the sources here, which Node.js cannot run. */
const BUILT_LIBRARY: string = `${LIBRARY}/dist/testing/index.js`;

/** Builds `libs/local-postgres` if it is stale and starts an empty, non-durable server. */
export async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  execFileSync(process.execPath, [TSC, '--build', join(import.meta.dirname, LIBRARY)], { stdio: 'inherit' });
  const { startThrowAwayPostgres } = (await import(BUILT_LIBRARY)) as typeof LocalPostgres;
  return startThrowAwayPostgres();
}
