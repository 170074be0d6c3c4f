import { ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Environment, ServiceProcess } from '@animal-store/test-kit/service-process';
import type { Catalogue } from './database-server.js';
import type { Paging } from './http-requests.js';
import { isInstalled } from './load.js';
import { type Workload, WORKLOADS } from './workloads.js';

const run = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const WORKSPACE = path('../../..');
const dockerfile = readFileSync(join(WORKSPACE, 'Dockerfile'), 'utf8');
/** The command of the image: `node`, its options, then the program. */
const [, command] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
ok(command, 'the Dockerfile has a CMD in its JSON form');
const [, arenas] = /^ {4}MALLOC_ARENA_MAX=(\d+) /m.exec(dockerfile) ?? [];
ok(arenas, 'the Dockerfile sets MALLOC_ARENA_MAX');
const MALLOC_ARENA_MAX = arenas;
const [, ...SERVICE_COMMAND] = JSON.parse(command) as string[];
const SERVICE_OPTIONS = SERVICE_COMMAND.slice(0, -1);
const SERVICE = join(WORKSPACE, SERVICE_COMMAND.at(-1) ?? '');
/** The service before bundling, so that a profile shows its files. */
export const UNBUNDLED_SERVICE = path('../../../apps/api/dist/main.js');
const GO_SOURCE = path('../go/main.go');
const GO_PROGRAM = path('./go-pgx');
/** Folder in which Debian installs the sources of Go libraries. */
const GOPATH = '/usr/share/gocode';
const RUST_PACKAGE = path('../rust/Cargo.toml');
const RUST_BUILD = path('./rust-hyper');
/** Folder in which Debian installs the sources of Rust crates. */
const CRATES = '/usr/share/cargo/registry';
const REQUIRED_CRATES = ['hyper-0.14', 'tokio-1', 'tokio-postgres-0.7', 'sha2-0.10', 'serde_json-1', 'serde_derive-1'];
const VERY_HIGH_RATE_LIMIT = '1000000000';

export const ANIMAL_STORE = 'animal-store';

/** Folder of another checkout of this repository, in which `npm run bench -- --help` was run to build it. */
const BASELINE_FOLDER = process.env['BASELINE'];

export interface Target {
  readonly workloads: readonly Workload[];
  readonly paging: Paging;
  /** Whether all responses to an operation have the same bytes. */
  readonly constant?: boolean;
  /** Whether names and categories are unique in its own database, and a share of the creations are conflicts. */
  readonly hasConflicts?: boolean;
  /** Folder of the checkout that creates its database. By default, the targets share the database of this one. */
  readonly workspace?: string | undefined;
  /** Returns the requirement of the target that is missing, or undefined if nothing is missing. */
  readonly missing?: () => string | undefined;
  readonly start: (catalogue: Catalogue) => Promise<ServiceProcess>;
}

/** Starts a program that prints its port. */
function startProgram(name: string, command: readonly string[], catalogue: Catalogue, env: Environment = {}): Promise<ServiceProcess> {
  const logFile = join(catalogue.server.folder, `${name}.log`);
  return ServiceProcess.start({ NODE_ENV: 'production', DATABASE_URL: catalogue.url, ...env }, { command, logFile });
}

const nodePeer = (name: string, program: string, env?: Environment): Target => ({
  workloads: WORKLOADS,
  paging: 'after',
  start: (catalogue) => startProgram(name, [process.execPath, path(`./peers/${program}.js`)], catalogue, env),
});

interface ServiceOptions {
  readonly name?: string;
  readonly workers?: number;
  readonly nodeArgs?: readonly string[];
  readonly program?: string;
}

/** Starts the service as deployed: with request logs to a file, metrics, and rate limits that are not reached. */
export function startService(catalogue: Catalogue, options: ServiceOptions = {}): Promise<ServiceProcess> {
  const { name = ANIMAL_STORE, workers = 1, nodeArgs = [], program = SERVICE } = options;
  return startProgram(name, [process.execPath, ...SERVICE_OPTIONS, ...nodeArgs, program], catalogue, {
    ...{ MALLOC_ARENA_MAX, ADMIN_PORT: '0', RATE_LIMIT: VERY_HIGH_RATE_LIMIT, WORKERS: `${workers}` },
  });
}

const service = (options: ServiceOptions): Target => ({
  workloads: WORKLOADS,
  paging: 'cursor',
  start: (catalogue) => startService(catalogue, options),
});

const UNIQUE_PETS_SERVICE = path('./peers/unique-pets.js');

/** docs/performance.md describes them. */
export const TARGETS = {
  [ANIMAL_STORE]: service({}),
  'animal-store-2': service({ name: 'animal-store-2', workers: 2 }),
  baseline: {
    ...service({ name: 'baseline', program: join(BASELINE_FOLDER ?? '', SERVICE_COMMAND.at(-1) ?? '') }),
    workspace: BASELINE_FOLDER,
    missing: () => (BASELINE_FOLDER === undefined ? 'BASELINE=<folder of another checkout>' : undefined),
  },
  conflicts: { ...service({ name: 'conflicts', program: UNIQUE_PETS_SERVICE }), workloads: ['create'], hasConflicts: true },
  'go-pgx': { workloads: WORKLOADS, paging: 'after', missing: goIsMissing, start: startGo },
  'rust-hyper': { workloads: WORKLOADS, paging: 'after', missing: rustIsMissing, start: startRust },
  'fastify-pg': nodePeer('fastify-pg', 'fastify-pg'),
  'fastify-pg-pipeline': nodePeer('fastify-pg-pipeline', 'fastify-pg', { PIPELINE: 'true' }),
  'stock-nest': nodePeer('stock-nest', 'stock-nest'),
  'nest-constant': { workloads: ['list', 'get', 'create'], paging: 'after', constant: true, start: startConstant },
} satisfies Readonly<Record<string, Target>>;

/** Starts NestJS with constant responses: the page that the workload `list` requests, and one pet for `get` and `create`. */
async function startConstant(catalogue: Catalogue): Promise<ServiceProcess> {
  const CONSTANT_RESPONSES = JSON.stringify(await constantResponses(catalogue));
  return startProgram('nest-constant', [process.execPath, path('./peers/nest-constant.js')], catalogue, { CONSTANT_RESPONSES });
}

function goIsMissing(): string | undefined {
  if (isInstalled('go') && existsSync(`${GOPATH}/src/github.com/jackc/pgx/v4`)) return undefined;
  return 'apt-get install golang-go golang-github-jackc-pgx-v4-dev';
}

async function startGo(catalogue: Catalogue): Promise<ServiceProcess> {
  await run('go', ['build', '-o', GO_PROGRAM, GO_SOURCE], { env: { ...process.env, GO111MODULE: 'off', GOPATH } });
  return startProgram('go-pgx', [GO_PROGRAM], catalogue);
}

function rustIsMissing(): string | undefined {
  const installed = existsSync(CRATES) ? readdirSync(CRATES) : [];
  const areCratesInstalled = REQUIRED_CRATES.every((crate) => installed.some((name) => name.startsWith(`${crate}.`)));
  if (areCratesInstalled && isInstalled('cargo')) return undefined;
  return 'apt-get install cargo librust-hyper+full-dev librust-tokio+full-dev librust-tokio-postgres-dev librust-sha2-dev librust-serde-json-dev librust-serde-derive-dev';
}

async function startRust(catalogue: Catalogue): Promise<ServiceProcess> {
  const source = ['--config', 'source.crates-io.replace-with="debian"', '--config', `source.debian.directory="${CRATES}"`];
  await run('cargo', ['build', '--release', '--offline', '--manifest-path', RUST_PACKAGE, '--target-dir', RUST_BUILD, ...source]);
  return startProgram('rust-hyper', [join(RUST_BUILD, 'release/rust-hyper')], catalogue);
}

export async function constantResponses(catalogue: Catalogue): Promise<{ list: string; get: string; create: string; keyHashes: string[] }> {
  const pet = JSON.stringify(await catalogue.pet(1));
  return {
    list: JSON.stringify(await catalogue.page({ limit: 20, status: 'available' })),
    get: pet,
    create: pet,
    keyHashes: catalogue.keys.map((key) => hash('sha256', key, 'hex')),
  };
}
