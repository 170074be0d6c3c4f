import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { FaultProxy } from '../client/fault-proxy.js';
import { useOwnService } from '../support/use-api.js';
import type { SampleResult } from './sample-host.js';
import { type Language, readSamples, type Sample } from './samples.js';

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

export interface Runner {
  readonly language: Language;
  /** Name of the file that a sample is written to. */
  readonly file: string;
  /** Program and arguments that run the file. By default, one Node.js process runs all samples of the language. */
  readonly command?: readonly string[];
}

/**
 * Defines a test for each sample in these languages, which compares its output. A sample that gets an error must show its status.
 * The tables of all contexts are emptied before each guide.
 */
export function itRunsSamples(runners: readonly Runner[]): void {
  const own = useOwnService(allScopes());
  const folder = join(RESULTS, `guides-${process.pid}`);
  const programs = join(folder, 'bin');

  let proxy: FaultProxy;

  beforeAll(async () => {
    mkdirSync(programs, { recursive: true });
    addProgram('animal-store', CLI);
    proxy = await FaultProxy.start(own.api.target.baseUrl);
  });
  afterAll(async () => {
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each(runners)('in $language', ({ language, file, command }) => {
    let host: SampleHost | undefined;
    let files = 0;
    afterAll(() => host?.stop());

    const guides = [...readSamples()].map(([guide, samples]) => ({
      guide,
      samples: samples.filter((sample) => sample.language === language),
    }));

    async function run({ code }: Sample): Promise<string> {
      const path = join(folder, `${++files}-${file}`);
      writeFileSync(path, code.replaceAll(ADDRESS, proxy.url));
      const env = {
        // Some Python installations require it.
        HOME: process.env['HOME'],
        PATH: [programs, process.env['PATH']].join(delimiter),
        API_KEY: own.api.target.key,
        DATABASE_URL: own.databaseUrl,
        OPERATOR: 'guides',
      };
      if (command) {
        const [program = '', ...args] = command;
        return (await promisify(execFile)(program, [...args, path], { env })).stdout;
      }
      host ??= startHost(env);
      return host.run(path);
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

  function addProgram(name: string, script: string): void {
    writeFileSync(join(programs, name), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
    chmodSync(join(programs, name), 0o755);
  }
}

interface SampleHost {
  /** Runs a sample and returns what it prints. */
  run(path: string): Promise<string>;
  stop(): void;
}

function startHost(env: NodeJS.ProcessEnv): SampleHost {
  // Without the options of Jest's process.
  const host = fork(join(import.meta.dirname, 'sample-host.ts'), { env, execArgv: [] });
  const ended = once(host, 'exit').then(([code]) => [{ error: `the process exited with ${String(code)}` }]);
  return {
    async run(path) {
      host.send(pathToFileURL(path).href);
      const [result] = (await Promise.race([once(host, 'message'), ended])) as [SampleResult];
      if ('error' in result) throw new Error(result.error);
      return result.printed;
    },
    stop: () => host.disconnect(),
  };
}

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
