import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { useOwnService } from '../support/use-api.js';
import { type Language, readSamples, type Sample } from './samples.js';

const WORKSPACE = join(import.meta.dirname, '../../../..');
/** In the workspace, so that TypeScript samples can import the client. */
const RESULTS = join(import.meta.dirname, '../../test-results');
const CLI = join(WORKSPACE, 'apps/cli/bundle/main.js');

/** Base URL in the samples. */
const ADDRESS = 'http://localhost:3000';
/** Pets in the store before the samples of a guide run. The quickstart starts with an empty store. */
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
  /** Program and arguments that run the file. */
  readonly command: readonly string[];
}

/** Defines a test for each sample in these languages, which compares its output. The pets are reset before each guide. */
export function itRunsSamples(runners: readonly Runner[], { withCurl }: { readonly withCurl: boolean }): void {
  const own = useOwnService();
  const folder = join(RESULTS, `guides-${process.pid}`);
  const programs = join(folder, 'bin');

  beforeAll(() => {
    mkdirSync(programs, { recursive: true });
    addProgram('animal-store', CLI);
    if (!withCurl) addProgram('curl', join(import.meta.dirname, 'curl.ts'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe.each(runners)('in $language', ({ language, file, command: [program = '', ...args] }) => {
    const guides = [...readSamples()].map(([guide, samples]) => ({
      guide,
      samples: samples.filter((sample) => sample.language === language),
    }));

    async function run({ code }: Sample): Promise<string> {
      const path = join(folder, file);
      writeFileSync(path, code.replaceAll(ADDRESS, own.api.target.baseUrl));
      const { stdout } = await promisify(execFile)(program, [...args, path], {
        env: {
          // Some Python installations require it.
          HOME: process.env['HOME'],
          PATH: [programs, process.env['PATH']].join(delimiter),
          API_KEY: own.api.target.key,
          DATABASE_URL: own.databaseUrl,
          OPERATOR: 'guides',
        },
      });
      return stdout;
    }

    describe.each(guides.filter(({ samples }) => samples.length > 0))('$guide', ({ guide, samples }) => {
      beforeAll(async () => {
        await resetPets(own.databaseUrl);
        if (guide !== EMPTY_STORE) for (const animal of ANIMALS) await own.api.createPet({ ...animal, categoryId: 7n });
      });

      it.each(samples.map((sample, index) => ({ ...sample, number: index + 1 })))('$number. $heading', async (sample) => {
        const printed = await run(sample);
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

/** Returns a pattern for a header line of a guide. Header names are case-insensitive; `…` matches any text. */
function patternOf(line: string): RegExp {
  return new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}\\r?$`, 'im');
}

function withoutSpace(json: string): string {
  return json.replace(/\s/g, '');
}

/** Empties all tables of the schema `pets`. The next pet gets the id 1. */
async function resetPets(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') AS name FROM pg_tables WHERE schemaname = 'pets'`,
    );
    await client.query(`TRUNCATE ${rows[0]?.name ?? ''} RESTART IDENTITY`);
  } finally {
    await client.end();
  }
}
