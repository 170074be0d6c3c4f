import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { APIError } from '@animal-store/client';
import { describe, expect, it } from '@jest/globals';
import { GUIDES, readSamples } from './samples.js';

// `npm run verify -- samples` runs them.
describe('the samples of the guides', () => {
  it('compile with the types of the client', async () => {
    const folder = join(import.meta.dirname, '../../test-results', `guide-types-${process.pid}`);
    const samples = [...readSamples().values()].flat().filter(({ language }) => language === 'ts');
    const compilerOptions = { target: 'es2024', module: 'nodenext', strict: true, noEmit: true, types: ['node'] };
    mkdirSync(folder, { recursive: true });
    try {
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      for (const [index, { code }] of samples.entries()) writeFileSync(join(folder, `sample-${index}.ts`), code);
      const tsc = join(createRequire(import.meta.url).resolve('@typescript/7/package.json'), '../bin/tsc');
      const compiled = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error: unknown) => error);
      expect(compiled).toMatchObject({ stdout: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('show each request in every language', () => {
    for (const [guide, samples] of readSamples()) {
      for (const group of Map.groupBy(samples, (sample) => sample.group).values()) {
        const languages = group.map(({ language }) => language);
        // Some samples need one language: curl to show a response, JavaScript to show how it rounds.
        if (languages.length === 1 && languages[0] !== 'ts') continue;
        const programs = languages.filter((language) => language !== 'sh');
        const place = { guide, heading: group[0]?.heading };
        expect({ ...place, programs }).toEqual({ ...place, programs: ['ts', 'python', 'go'] });
      }
    }
    const all = [...readSamples().values()].flat();
    expect(all.length).toBeGreaterThan(50);
    const programs = readdirSync(join(GUIDES, 'samples')).map((name) => readFileSync(join(GUIDES, 'samples', name), 'utf8'));
    expect(programs.filter((program) => !all.some(({ code }) => code === program))).toEqual([]);
  });
});

it('the error guide states for each code whether the client retries', () => {
  const guide = readFileSync(join(GUIDES, 'errors.md'), 'utf8');
  const codes = [...guide.matchAll(/^### `([a-z_]+)`\n\nStatus ([0-9]{3})\. Retry: (no|yes)/gm)];
  expect(codes.length).toBeGreaterThan(15);
  for (const [, code, status, retry] of codes) {
    const error = new APIError('', { response: new Response(null, { status: Number(status) }) });
    expect({ code, retry: error.retryable ? 'yes' : 'no' }).toEqual({ code, retry });
  }
});
