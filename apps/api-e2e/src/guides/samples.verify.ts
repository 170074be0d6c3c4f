import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { FaultProxy } from '../client/fault-proxy.js';
import { useOwnService } from '../support/use-api.js';
import { GUIDES, type Language, readSamples, type Sample } from './samples.js';

const WORKSPACE = join(import.meta.dirname, '../../../..');
/** In the workspace, so that TypeScript samples can import the client. */
const RESULTS = join(import.meta.dirname, '../../test-results');
const OPENAPI = join(WORKSPACE, 'docs/openapi.json');
const SCOPES = 'x-required-scopes';
const CLI = join(WORKSPACE, 'apps/cli/bundle/main.js');

/** Base URL in the samples. */
const ADDRESS = 'http://localhost:3000';
/** Pets in the store before the samples of a guide run, also of other contexts. The quickstart starts with an empty store. */
const ANIMALS = [
  { name: 'Rex', status: 'available' },
  { name: 'Mia', status: 'available' },
  { name: 'Tom', status: 'pending' },
  { name: 'Kim', status: 'available' },
  { name: 'Zoe', status: 'sold' },
] as const;
const EMPTY_STORE = 'quickstart';

/** Programs by Debian package, with an argument that prints the version. */
const PROGRAMS = {
  curl: ['curl', '--version'],
  python3: ['python3', '--version'],
  'golang-go': ['go', 'version'],
  'default-jdk-headless': ['java', '--version'],
} as const;
/** From Debian's package libjackson2-databind-java. */
const JACKSON = ['core', 'annotations', 'databind'].map((name) => `/usr/share/java/jackson-${name}.jar`).join(delimiter);

/** The suffix of a file in each language, and the command that runs it. */
const RUNNERS: readonly [Language, suffix: string, program: string, ...args: string[]][] = [
  ['sh', 'sh', 'sh', '-eu'],
  ['python', 'py', 'python3'],
  ['go', 'go', 'go', 'run'],
  ['java', 'java', 'java', '--class-path', JACKSON],
  ['ts', 'ts', process.execPath],
];

const own = useOwnService(allScopes());
const folder = join(RESULTS, `guides-${process.pid}`);
const programs = join(folder, 'bin');
let proxy: FaultProxy;
let files = 0;

beforeAll(async () => {
  for (const [name, [program, argument]] of Object.entries(PROGRAMS)) {
    try {
      execFileSync(program, [argument]);
    } catch (cause) {
      throw new Error(`there is no ${program}: install Debian's package ${name} (apt-get install ${name})`, { cause });
    }
  }
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, 'animal-store'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(programs, 'animal-store'), 0o755);
  proxy = await FaultProxy.start(own.api.target.baseUrl);
});
afterAll(async () => {
  await proxy.stop();
  rmSync(folder, { recursive: true, force: true });
});

// A sample that gets an error must show its status.
describe.each(RUNNERS)('the samples of the guides in %s', (language, suffix, program, ...args) => {
  const guides = [...readSamples()].map(([guide, samples]) => ({
    guide,
    samples: samples.filter((sample) => sample.language === language),
  }));

  async function run({ code }: Sample): Promise<string> {
    const path = join(folder, `${++files}.${suffix}`);
    writeFileSync(path, code.replaceAll(ADDRESS, proxy.url));
    const env = {
      // Some Python installations require it.
      HOME: process.env['HOME'],
      PATH: [programs, process.env['PATH']].join(delimiter),
      API_KEY: own.api.target.key,
      DATABASE_URL: own.databaseUrl,
      OPERATOR: 'guides',
    };
    return (await promisify(execFile)(program, [...args, path], { env })).stdout;
  }

  describe.each(guides.filter(({ samples }) => samples.length > 0))('$guide', ({ guide, samples }) => {
    beforeAll(async () => {
      await emptyContexts(own.databaseUrl);
      if (guide !== EMPTY_STORE) for (const animal of ANIMALS) await own.api.createPet({ ...animal, categoryId: 7n });
    });

    it.each(samples.map((sample, index) => ({ ...sample, number: index + 1 })))('$number. $heading', async (sample) => {
      proxy.inject();
      const printed = await run(sample);
      const shown = [sample.http, sample.json, sample.text].join('\n');
      expect(proxy.statuses.filter((status) => status >= 400 && !new RegExp(`\\b${status}\\b`).test(shown))).toEqual([]);
      if (sample.json !== undefined) expect(withoutSpace(printed)).toBe(withoutSpace(sample.json));
      for (const line of sample.http?.trim().split('\n') ?? []) expect(printed).toMatch(patternOf(line));
      if (sample.text !== undefined) expect(printed).toBe(sample.text);
    });
  });
});

it('the Go programs are formatted', () => {
  expect(execFileSync('gofmt', ['-d', join(GUIDES, 'samples')], { encoding: 'utf8' })).toBe('');
});

/** Returns a pattern for a header line of a guide. Header names are case-insensitive; `…` matches any text. */
function patternOf(line: string): RegExp {
  return new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}\\r?$`, 'im');
}

function withoutSpace(json: string): string {
  return json.replace(/\s/g, '');
}

/** Returns the scopes of all operations. */
function allScopes(): string[] {
  const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as { paths: Record<string, Record<string, { [SCOPES]?: string[] }>> };
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return [...new Set(operations.flatMap((operation) => operation[SCOPES] ?? []))];
}

/** Empties the tables of all contexts. The next resources get the id 1. */
async function emptyContexts(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS name FROM pg_tables
       WHERE schemaname NOT IN ('access', 'jobs', 'events', 'public', 'pg_catalog', 'information_schema')`,
    );
    await client.query(`TRUNCATE ${rows[0]?.name ?? ''} RESTART IDENTITY CASCADE`);
  } finally {
    await client.end();
  }
}
