import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publint } from 'publint';
import { rolldown } from 'rolldown';

const CLIENT = join(import.meta.dirname, '../../../../../libs/client');
const MAX_GZIPPED_BYTES = 8 * 1024;

interface PackedPackage {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let tarball: Buffer;
let files: readonly string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'animal-store-client-'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', args, { cwd: CLIENT, encoding: 'utf8', shell: process.platform === 'win32' });
  const [packed] = JSON.parse(output) as PackedPackage[];
  tarball = readFileSync(join(folder, packed?.filename ?? ''));
  files = packed?.files.map(({ path }) => path) ?? [];
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the package', () => {
  it('has the built client, its sources, a README and the licence, and no tests', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']));
    expect(files.filter((file) => /spec|tsbuildinfo|tsconfig|jest/.test(file))).toEqual([]);
  });

  it('has no dependencies and is not private', () => {
    const manifest = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name) || name === 'private')).toEqual([]);
  });

  it('passes publint', async () => {
    const { messages } = await publint({ pack: { tarball: toArrayBuffer(tarball) }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types for the module resolutions nodenext and bundler (arethetypeswrong)', async () => {
    // Clients of examples import `./resource`, which only this workspace resolves.
    const analysis = await checkPackage(createPackageFromTarballData(tarball), { excludeEntrypoints: ['./resource'] });
    expect(analysis).toMatchObject({ types: { kind: 'included' } });
    // A CommonJS module requires the ES module, which TypeScript's older resolution `node16` rejects.
    const problems = analysis.types ? analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM' && kind !== 'NoResolution') : [];
    expect(problems).toEqual([]);
  });
});

function toArrayBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

/** Returns the minified bundle of a program that imports the client. */
async function bundleProgram(program: string): Promise<string> {
  const bundle = await rolldown({
    input: 'program',
    platform: 'browser',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : id === '@animal-store/client' ? join(CLIENT, 'dist/index.js') : undefined),
        load: (id) => (id === 'program' ? program : undefined),
      },
    ],
  });
  // The default of the second option is a regular expression of Jest's own realm, which native code rejects.
  const { output } = await bundle.generate({ minify: true, sourcemapIgnoreList: false });
  await bundle.close();
  return output[0].code;
}

describe('bundled for a browser', () => {
  it('has at most 8 KB with all exports, minified and gzipped, and imports nothing', async () => {
    const bundle = await bundleProgram("export * from '@animal-store/client';");
    expect(gzipSync(bundle).length).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
    expect(bundle).not.toMatch(/\bimport\b|\brequire\b/);
  });

  it('leaves out exports that are not imported', async () => {
    expect(await bundleProgram("import '@animal-store/client';")).toBe('');
  });

  it('keeps the names of errors', async () => {
    const program = "import { APIConnectionError } from '@animal-store/client'; globalThis.error = new APIConnectionError('none');";
    const context: { error?: Error } = {};
    runInNewContext(await bundleProgram(program), context);
    expect(String(context.error)).toBe('APIConnectionError: none');
  });
});
