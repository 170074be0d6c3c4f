import { mkdir, mkdtemp, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listFiles } from './list-files.js';
import { packageService } from './package-service.js';
import { PackagingError } from './packaging-error.js';

const API = 'apps/api/dist/main.js';
const CLI = 'apps/cli/dist/main.js';
const LOCK = {
  lockfileVersion: 3,
  packages: {
    '': {},
    'apps/api': {},
    'apps/cli': {},
    'libs/kernel': {},
    'libs/local': {},
    'node_modules/@animal-store/kernel': { resolved: 'libs/kernel', link: true },
    'node_modules/@animal-store/local': { resolved: 'libs/local', link: true },
    'node_modules/pg': { version: '1.0.0', integrity: 'sha512-pg' },
    'node_modules/pg/node_modules/xtend': { version: '1.0.0', integrity: 'sha512-xtend' },
    'node_modules/jest': { version: '1.0.0', integrity: 'sha512-jest', dev: true },
    'node_modules/fsevents': { version: '1.0.0', integrity: 'sha512-fsevents', optional: true },
    'node_modules/typescript': { version: '1.0.0', integrity: 'sha512-typescript', devOptional: true },
  },
};

let workspace: string;
let out: string;

beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'animal-store-workspace-')));
  out = join(workspace, 'dist/package');
  await write('package.json', { version: '1.2.3', dependencies: { pg: '1.0.0' } });
  await write('package-lock.json', LOCK);
  await write('node_modules/.package-lock.json', LOCK);
  await write('LICENSE', 'MIT');
  await writeProject('apps/api', 'app', { main: "import { clock } from '@animal-store/kernel'; import pg from 'pg';" });
  for (const app of ['api', 'cli']) await write(`apps/${app}/bundle/main.js`, '');
  await writeProject('apps/cli', 'app', { main: "await import('@animal-store/local');" });
  await writeProject('libs/kernel', 'kernel', { index: "export * from './clock.js'; import 'node:fs';", clock: 'export const clock = 1;' });
  await writeProject('libs/local', 'local', { index: '' });
  for (const path of Object.keys(LOCK.packages).filter((name) => /node_modules\/[a-z]+$/.test(name))) {
    for (const file of ['package.json', 'index.js', 'index.d.ts', 'index.js.map', 'README.md', 'LICENSE.md'])
      await write(`${path}/${file}`, {});
  }
  await mkdir(join(workspace, 'node_modules/@animal-store'));
  for (const name of ['kernel', 'local']) await symlink(`../../libs/${name}`, join(workspace, `node_modules/@animal-store/${name}`));
});

afterEach(() => rm(workspace, { recursive: true }));

describe('packageService', () => {
  it('takes the projects that are imported, and the locked packages of production', async () => {
    const packaged = await packageService(workspace, out);
    expect(packaged).toMatchObject({
      projects: ['apps/api', 'apps/cli', 'libs/kernel'],
      packages: ['node_modules/pg', 'node_modules/pg/node_modules/xtend'],
    });
    expect(await listFiles(out)).toEqual([
      'LICENSE',
      'apps/api/bundle/main.js',
      'apps/api/dist/main.js',
      'apps/api/package.json',
      'apps/cli/bundle/main.js',
      'apps/cli/dist/main.js',
      'apps/cli/package.json',
      'bin/animal-store',
      'libs/kernel/dist/clock.js',
      'libs/kernel/dist/index.js',
      'libs/kernel/package.json',
      'node_modules/@animal-store/kernel',
      'node_modules/pg/LICENSE.md',
      'node_modules/pg/index.js',
      'node_modules/pg/node_modules/xtend/LICENSE.md',
      'node_modules/pg/node_modules/xtend/index.js',
      'node_modules/pg/node_modules/xtend/package.json',
      'node_modules/pg/package.json',
      'package-lock.json',
      'package.json',
    ]);
    expect(packaged.files).toBe(20);
  });

  it('leaves out what was built of sources that are gone, test support and specs', async () => {
    for (const name of ['gone', 'testing/support', 'some.spec']) await write(`libs/kernel/dist/${name}.js`, '');
    for (const name of ['testing/support', 'some.spec']) await write(`libs/kernel/src/${name}.ts`, '');
    await packageService(workspace, out);
    expect(await listFiles(join(out, 'libs/kernel/dist'))).toEqual(['clock.js', 'index.js']);
  });

  it('is the same when it is made again', async () => {
    await packageService(workspace, out);
    const before = await contentsOf(out);
    await packageService(workspace, join(workspace, 'dist/again'));
    expect(await contentsOf(join(workspace, 'dist/again'))).toEqual(before);
    expect(Object.keys(before)).toHaveLength(20);
  });

  it('replaces an earlier package', async () => {
    await packageService(workspace, out);
    await write('dist/package/left-over.js', '');
    await packageService(workspace, out);
    expect(await listFiles(out)).not.toContain('left-over.js');
  });

  it.each([
    [
      'a static import of what is not deployed',
      API,
      "import '@animal-store/local';",
      `${API} imports @animal-store/local, which is not deployed`,
    ],
    ['an import of a development dependency', CLI, "import 'jest';", `${CLI} imports jest, which is not among the dependencies`],
    ['an import of what is not built', API, "import './missing.js';", 'apps/api/dist/missing.js is missing: build it first'],
  ])('refuses %s', async (_what, file, source, message) => {
    await write(file, source);
    await expect(packageService(workspace, out)).rejects.toThrow(message);
  });

  it.each([
    ['another version', { version: '1.0.1', integrity: 'sha512-other' }],
    ['nothing', undefined],
  ])('refuses node_modules with %s of a locked package', async (_what, installed) => {
    await write('node_modules/.package-lock.json', { packages: { ...LOCK.packages, 'node_modules/pg': installed } });
    await expect(packageService(workspace, out)).rejects.toThrow(
      new PackagingError('node_modules is not what package-lock.json says: run npm ci\nnode_modules/pg'),
    );
  });

  it.each(['api', 'cli'])('refuses apps/%s that is not bundled', async (app) => {
    await rm(join(workspace, `apps/${app}/bundle`), { recursive: true });
    await expect(packageService(workspace, out)).rejects.toThrow(`apps/${app}/bundle/main.js is missing: bundle it first`);
  });

  it('refuses to overwrite a folder that is no package', async () => {
    await expect(packageService(workspace, join(workspace, 'apps'))).rejects.toThrow('choose another --out');
    expect(await listFiles(join(workspace, 'apps'))).toContain('api/package.json');
  });
});

async function writeProject(root: string, layer: string, modules: Readonly<Record<string, string>>): Promise<void> {
  await write(`${root}/package.json`, { type: 'module', exports: './dist/index.js', nx: { tags: [`layer:${layer}`] } });
  for (const [name, source] of Object.entries(modules)) {
    await write(`${root}/src/${name}.ts`, source);
    await write(`${root}/dist/${name}.js`, source);
    await write(`${root}/dist/${name}.d.ts`, '');
  }
}

async function write(path: string, content: string | object): Promise<void> {
  await mkdir(dirname(join(workspace, path)), { recursive: true });
  await writeFile(join(workspace, path), typeof content === 'string' ? content : JSON.stringify(content));
}

async function contentsOf(folder: string): Promise<Record<string, string>> {
  const files = await listFiles(folder);
  const contents = files.map(async (file) => [file, await readlink(join(folder, file)).catch(() => readFile(join(folder, file), 'utf8'))]);
  return Object.fromEntries(await Promise.all(contents)) as Record<string, string>;
}
