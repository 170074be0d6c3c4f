import { ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Environment, ServiceProcess } from '@animal-store/test-kit/service-process';
import type { Catalogue } from './database-server.js';
import type { Paging } from './http-requests.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const WORKSPACE = path('../../..');
const VERY_HIGH_RATE_LIMIT = '1000000000';

export const ANIMAL_STORE = 'animal-store';
export const BASELINE = 'baseline';

export interface Target {
  readonly paging: Paging;
  /** Folder of the checkout whose programs create its database. */
  readonly workspace: string;
  readonly start: (catalogue: Catalogue) => Promise<ServiceProcess>;
}

/** Returns the targets. docs/performance.md describes them. */
export function targetsOf(baseline?: string): Readonly<Record<string, Target>> {
  return {
    [ANIMAL_STORE]: service(ANIMAL_STORE, WORKSPACE),
    ...(baseline !== undefined && { [BASELINE]: service(BASELINE, resolve(baseline)) }),
    'go-pgx': peer(async (catalogue) => {
      const program = path('./go-pgx');
      await promisify(execFile)('go', ['build', '-o', program, '.'], { cwd: path('../go') });
      return startProgram('go-pgx', [program], catalogue);
    }),
    ...Object.fromEntries(
      ['fastify-pg', 'stock-nest'].map((name) => [
        name,
        peer((catalogue) => startProgram(name, [process.execPath, path(`./peers/${name}.js`)], catalogue)),
      ]),
    ),
  };
}

const peer = (start: Target['start']): Target => ({ paging: 'after', workspace: WORKSPACE, start });

/** The service as its image runs it: with request logs to a file, metrics, and rate limits that are not reached. */
function service(name: string, workspace: string): Target {
  return {
    paging: 'cursor',
    workspace,
    start: (catalogue) => {
      const dockerfile = readFileSync(join(workspace, 'Dockerfile'), 'utf8');
      const [, command] = /^CMD \["node", (.*)\]$/m.exec(dockerfile) ?? [];
      const [, MALLOC_ARENA_MAX] = /^ {4}MALLOC_ARENA_MAX=(\d+) /m.exec(dockerfile) ?? [];
      ok(command !== undefined && MALLOC_ARENA_MAX !== undefined, 'the Dockerfile has a CMD in its JSON form and sets MALLOC_ARENA_MAX');
      const args = JSON.parse(`[${command}]`) as string[];
      const program = [process.execPath, ...args.slice(0, -1), join(workspace, args.at(-1) ?? '')];
      // Settings of contexts then have the value of `devDefault`.
      const env = { NODE_ENV: 'test', MALLOC_ARENA_MAX, ADMIN_PORT: '0', RATE_LIMIT: VERY_HIGH_RATE_LIMIT };
      return startProgram(name, program, catalogue, env);
    },
  };
}

function startProgram(name: string, command: readonly string[], catalogue: Catalogue, env: Environment = {}): Promise<ServiceProcess> {
  const logFile = join(catalogue.server.folder, `${name}.log`);
  return ServiceProcess.start({ NODE_ENV: 'production', DATABASE_URL: catalogue.url, ...env }, { command, logFile });
}
