import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorDefinition, JsonText } from '@animal-store/kernel';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { describeApp } from '../create-app.js';
import { defaultErrorBody } from '../errors/error-catalogue.js';
import type { HttpErrorDefinition } from '../errors/http-errors.js';
import { readConfig } from '../process/config.js';

const WORKSPACE = join(import.meta.dirname, '../../../..');

/** Files that define errors: of the API, of the libraries that contexts share, and of each context. */
const SOURCES = ['apps/api/src/errors/*-errors.ts', 'libs/{kernel,http-contract}/src/index.ts', 'libs/*/domain/src/*-errors.ts'];

/** Errors that only the command-line tool reports. */
const NOT_OVER_HTTP = ['api_key_not_found', 'api_key_not_active', 'client_not_found'];

type Definition = ErrorDefinition | HttpErrorDefinition;
/** Sorted entries `code status`. */
type Codes = readonly string[];

const isDefinition = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value && ('kind' in value || 'status' in value);

/** Returns the exported definitions of a module, including members of exported objects. */
function definitionsIn(module: object): Definition[] {
  return Object.values(module).flatMap((exported: unknown) =>
    isDefinition(exported)
      ? [exported]
      : typeof exported === 'object' && exported !== null
        ? Object.values(exported).filter(isDefinition)
        : [],
  );
}

const sorted = (errors: readonly { readonly code: string; readonly status: number }[]): Codes =>
  [...new Set(errors.map(({ code, status }) => `${code} ${String(status)}`))].sort();

async function catalogue(): Promise<Codes> {
  const files = globSync(SOURCES, { cwd: WORKSPACE }).filter((file) => !file.endsWith('.spec.ts'));
  const modules = await Promise.all(files.map((file) => import(join(WORKSPACE, file)) as Promise<object>));
  return sorted(modules.flatMap(definitionsIn).map(defaultErrorBody)).filter(
    (entry) => !NOT_OVER_HTTP.some((code) => entry.startsWith(`${code} `)),
  );
}

describe('the error codes', () => {
  let document: OpenAPIObject;
  let expected: Codes;

  beforeAll(async () => {
    document = await describeApp(readConfig({ DATABASE_URL: 'postgres://unused', LOG_LEVEL: 'silent' }));
    expected = await catalogue();
  });

  it('in the OpenAPI document match the code', () => {
    const inOperations = [...JsonText.of(document).text.matchAll(/"code":"([^"]+)","message":"(?:[^"\\]|\\.)*","status":([0-9]+)/g)];
    const outsideOperations = [...(document.info.description ?? '').matchAll(/([0-9]{3}) `([a-z_]+)`/g)];
    const published = [
      ...inOperations.map(([, code = '', status]) => ({ code, status: Number(status) })),
      ...outsideOperations.map(([, status, code = '']) => ({ code, status: Number(status) })),
    ];
    expect(sorted(published)).toEqual(expected);
  });

  it('in the schema Error match the code', () => {
    const { code } = (document.components?.schemas?.['Error'] as { properties: { code: { examples: string[] } } }).properties;
    expect(code.examples).toEqual([...new Set(expected.map((entry) => entry.split(' ')[0]))]);
  });

  it('in the guide match the code, each with an anchor, its status, and whether to retry', () => {
    const guide = readFileSync(join(WORKSPACE, 'docs/guides/errors.md'), 'utf8');
    const sections = [...guide.matchAll(/^### `([a-z_]+)`\n\nStatus ([0-9]{3})\. Retry: (?:no|yes)\b[^.]*\.\n\n\S/gm)];
    const listed = sections.map(([, code = '', status]) => ({ code, status: Number(status) }));
    expect(sorted(listed)).toEqual(expected);
    expect(guide.match(/^### /gm)).toHaveLength(expected.length);
  });
});
