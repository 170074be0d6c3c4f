import { ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHash } from 'node:crypto';
import type { Paging } from './http-requests.js';
import { isInstalled, runProcess } from './run-process.js';
import { ServerProcess } from './server-process.js';
import type { Catalogue } from './database-server.js';
import { type Workload, WORKLOADS } from './workloads.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const WORKSPACE = path('../../..');
const dockerfile = readFileSync(join(WORKSPACE, 'Dockerfile'), 'utf8');
/** The command of the image: `node`, its options, then the program. */
const [, command] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
ok(command, 'the Dockerfile has a CMD in its JSON form');
const [, MALLOC_ARENA_MAX] = /^ {4}MALLOC_ARENA_MAX=(\d+) /m.exec(dockerfile) ?? [];
ok(MALLOC_ARENA_MAX, 'the Dockerfile sets MALLOC_ARENA_MAX');
const SERVICE_ENVIRONMENT = { NODE_ENV: 'production', MALLOC_ARENA_MAX };
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

export interface HttpTarget {
  readonly description: string;
  readonly workloads: readonly Workload[];
  readonly paging: Paging;
  /** Whether all responses to an operation have the same bytes. */
  readonly constant?: boolean;
  readonly authenticates: boolean;
  /** Returns the requirement of the target that is missing, or undefined if nothing is missing. */
  readonly missing?: () => Promise<string | undefined>;
  readonly start: (catalogue: Catalogue) => Promise<ServerProcess>;
}

const CONSTANT_WORKLOADS = ['list', 'get', 'create'] as const;

const nodePeer = (name: string, options: { program?: string; env?: Readonly<Record<string, string>> } = {}) => {
  return (catalogue: Catalogue) =>
    ServerProcess.start({
      program: process.execPath,
      args: [path(`./peers/${options.program ?? name}.js`)],
      env: { NODE_ENV: 'production', DATABASE_URL: catalogue.url, ...options.env },
      logFile: join(catalogue.server.folder, `${name}.log`),
      listening: /^listening (\d+)$/m,
    });
};

const constantPeer = (name: string, description: string, authenticates: boolean): HttpTarget => ({
  description,
  workloads: CONSTANT_WORKLOADS,
  paging: 'after',
  constant: true,
  authenticates,
  async start(catalogue) {
    const file = join(catalogue.server.folder, `${name}.json`);
    await writeFile(file, JSON.stringify(await constantResponses(catalogue)));
    return ServerProcess.start({
      program: process.execPath,
      args: [path(`./peers/${name}.js`)],
      env: { NODE_ENV: 'production', CONSTANT_ANSWERS: file },
      logFile: join(catalogue.server.folder, `${name}.log`),
      listening: /^listening (\d+)$/m,
    });
  },
});

/** Starts the service as deployed: with request logs to a file, metrics, and rate limits that are not reached. */
export function startService(
  catalogue: Catalogue,
  options: { name?: string; workers?: number; env?: Readonly<Record<string, string>>; nodeArgs?: readonly string[]; program?: string } = {},
): Promise<ServerProcess> {
  return ServerProcess.start({
    program: process.execPath,
    args: [...SERVICE_OPTIONS, ...(options.nodeArgs ?? []), options.program ?? SERVICE],
    env: {
      ...SERVICE_ENVIRONMENT,
      DATABASE_URL: catalogue.url,
      PORT: '0',
      ADMIN_PORT: '0',
      RATE_LIMIT: VERY_HIGH_RATE_LIMIT,
      WORKERS: `${options.workers ?? 1}`,
      ...options.env,
    },
    logFile: join(catalogue.server.folder, `${options.name ?? ANIMAL_STORE}.log`),
    listening: /"url":"http:[^"]+:(\d+)"/,
  });
}

export const HTTP_TARGETS = {
  [ANIMAL_STORE]: {
    description: 'Animal Store, one process, as deployed',
    workloads: WORKLOADS,
    paging: 'cursor',
    authenticates: true,
    start: (catalogue) => startService(catalogue),
  },
  'animal-store-2': {
    description: 'Animal Store, WORKERS=2',
    workloads: WORKLOADS,
    paging: 'cursor',
    authenticates: true,
    start: (catalogue) => startService(catalogue, { name: 'animal-store-2', workers: 2 }),
  },
  baseline: {
    description: 'Animal Store, from the checkout in BASELINE',
    workloads: WORKLOADS,
    paging: 'cursor',
    authenticates: true,
    missing: () => Promise.resolve(BASELINE_FOLDER === undefined ? 'BASELINE=<folder of another checkout>' : undefined),
    start: (catalogue) => startService(catalogue, { name: 'baseline', program: join(BASELINE_FOLDER ?? '', SERVICE_COMMAND.at(-1) ?? '') }),
  },
  'go-pgx': {
    description: 'Go net/http and pgx, hand-written, both cores',
    workloads: WORKLOADS,
    paging: 'after',
    authenticates: true,
    missing: goIsMissing,
    start: startGo,
  },
  'rust-hyper': {
    description: 'Rust hyper and tokio-postgres, hand-written, pipelined statements, both cores',
    workloads: WORKLOADS,
    paging: 'after',
    authenticates: true,
    missing: rustIsMissing,
    start: startRust,
  },
  'fastify-pg': {
    description: 'Fastify and pg, hand-written',
    workloads: WORKLOADS,
    paging: 'after',
    authenticates: true,
    start: nodePeer('fastify-pg'),
  },
  'fastify-pg-pipeline': {
    description: "Fastify and pg's pipeline mode, hand-written",
    workloads: WORKLOADS,
    paging: 'after',
    authenticates: true,
    start: nodePeer('fastify-pg-pipeline', { program: 'fastify-pg', env: { PIPELINE: 'true' } }),
  },
  'stock-nest': {
    description: 'NestJS, Express, TypeORM, ValidationPipe',
    workloads: WORKLOADS,
    paging: 'after',
    authenticates: true,
    start: nodePeer('stock-nest'),
  },
  'nest-constant': constantPeer('nest-constant', 'NestJS on Fastify with a guard, constant response', true),
  'fastify-constant': constantPeer('fastify-constant', 'Fastify, constant response', false),
  'node-constant': constantPeer('node-constant', 'node:http, constant response', false),
} satisfies Readonly<Record<string, HttpTarget>>;

async function goIsMissing(): Promise<string | undefined> {
  if ((await isInstalled('go')) && existsSync(`${GOPATH}/src/github.com/jackc/pgx/v4`)) return undefined;
  return 'apt-get install golang-go golang-github-jackc-pgx-v4-dev';
}

async function startGo(catalogue: Catalogue): Promise<ServerProcess> {
  await runProcess('go', ['build', '-o', GO_PROGRAM, GO_SOURCE], { GO111MODULE: 'off', GOPATH });
  return startProgram('go-pgx', GO_PROGRAM, catalogue);
}

async function rustIsMissing(): Promise<string | undefined> {
  const installed = existsSync(CRATES) ? readdirSync(CRATES) : [];
  const areCratesInstalled = REQUIRED_CRATES.every((crate) => installed.some((name) => name.startsWith(`${crate}.`)));
  if (areCratesInstalled && (await isInstalled('cargo'))) return undefined;
  return 'apt-get install cargo librust-hyper+full-dev librust-tokio+full-dev librust-tokio-postgres-dev librust-sha2-dev librust-serde-json-dev librust-serde-derive-dev';
}

async function startRust(catalogue: Catalogue): Promise<ServerProcess> {
  const source = ['--config', 'source.crates-io.replace-with="debian"', '--config', `source.debian.directory="${CRATES}"`];
  await runProcess('cargo', ['build', '--release', '--offline', '--manifest-path', RUST_PACKAGE, '--target-dir', RUST_BUILD, ...source]);
  return startProgram('rust-hyper', join(RUST_BUILD, 'release/rust-hyper'), catalogue);
}

function startProgram(name: string, program: string, catalogue: Catalogue): Promise<ServerProcess> {
  return ServerProcess.start({
    program,
    args: [],
    env: { DATABASE_URL: catalogue.url },
    logFile: join(catalogue.server.folder, `${name}.log`),
    listening: /^listening (\d+)$/m,
  });
}

/** Returns the constant responses: the page that the workload `list` requests, and one pet for `get` and `create`. */
export async function constantResponses(catalogue: Catalogue): Promise<{ list: string; get: string; create: string; keyHashes: string[] }> {
  const pet = JSON.stringify(await catalogue.pet(1));
  return {
    list: JSON.stringify(await catalogue.page({ limit: 20, status: 'available' })),
    get: pet,
    create: pet,
    keyHashes: catalogue.keys.map((key) => createHash('sha256').update(key).digest('hex')),
  };
}
