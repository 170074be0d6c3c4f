import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WORKSPACE } from './testing/container-files.js';
import { type Run, testDeployedService } from './testing/deployed.suite.js';

/** Outside the workspace, so that no import finds its node_modules. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-package-')));
const out = join(folder, 'service');

const read = (path: string) => readFileSync(join(out, path), 'utf8');
const filesOf = (path: string): string[] => {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(path, join(parentPath, name)).replaceAll(sep, '/')).sort();
};

const main = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(WORKSPACE, 'tools/package/dist/main.js'), ...args], { encoding: 'utf8' });

beforeAll(() => expect(main('--out', out)).toMatchObject({ status: 0, stdout: `${out}\n` }));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packaged folder', () => {
  it('contains the bundles, Swagger UI and nothing else', () => {
    const files = filesOf(out);
    expect(files.filter((file) => !/^apps\/(?:api|cli)\/bundle\/[\w-]+\.js$/.test(file))).toEqual([
      'LICENSE',
      'THIRD-PARTY-LICENSES.txt',
      'apps/api/assets/docs.html',
      'apps/api/assets/docs.js',
      'bin/animal-store',
      ...['package.json', 'swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `node_modules/swagger-ui-dist/${name}`),
      'package.json',
      'sbom.cdx.json',
    ]);
    expect(files).toEqual(expect.arrayContaining(['apps/api/bundle/main.js', 'apps/cli/bundle/main.js']));
    expect(() => accessSync(join(out, 'bin/animal-store'), constants.X_OK)).not.toThrow();
  });

  it('imports no package', () => {
    // Allowed: optional packages that are not used, and imports in code that Ajv and fast-json-stringify could generate.
    const optional =
      /^(?:@nestjs\/(?:microservices|websockets|platform-express)|@fastify\/(?:static|multipart|view)|swagger-ui-dist)(?:\/|$)/;
    const others = /^(?:@node-rs\/xxhash|pg-native|pg-cloudflare|supports-color|class-transformer\/storage|@animal-store\/local-postgres)$/;
    const written = /^(?:ajv|ajv-formats|fast-json-stringify)\//;
    const bundles = filesOf(out).filter((file) => file.includes('/bundle/'));
    const imported = bundles.flatMap((file) =>
      [...read(file).matchAll(/(?:\bfrom |\bimport |\b(?:import|__require|require(?:\$\d+)?)\()["']([^"'./$][^"'$]*)["']/g)].map(
        ([, name = '']) => name,
      ),
    );
    expect(imported.length).toBeGreaterThan(30);
    expect(
      [...new Set(imported)].filter((name) => !isBuiltin(name) && ![optional, others, written].some((known) => known.test(name))),
    ).toEqual([]);
  });

  it('lists the packages of the bundles in its SBOM, each with its version and hash, and no address or path of a machine', () => {
    const { metadata, components } = JSON.parse(read('sbom.cdx.json')) as {
      metadata: object;
      components: readonly { name: string; version: string; purl: string; hashes: unknown[]; licenses: unknown[] }[];
    };
    expect(metadata).toMatchObject({ component: { name: 'animal-store', type: 'application' } });
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['@nestjs/common', 'class-validator', 'fastify', 'pg', 'swagger-ui-dist', 'typeorm']));
    expect(names).not.toEqual(expect.arrayContaining(['typescript']));
    for (const { name, version, purl, hashes, licenses } of components) {
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
      expect(licenses).toHaveLength(1);
    }
    expect(read('sbom.cdx.json').replace('http://cyclonedx.org/schema/', '')).not.toMatch(/https?:|file:/);
    expect(read('sbom.cdx.json')).not.toContain(WORKSPACE);
  });

  it('has the licence of every package in its SBOM', () => {
    const { components } = JSON.parse(read('sbom.cdx.json')) as { components: readonly { 'bom-ref': string }[] };
    const licences = read('THIRD-PARTY-LICENSES.txt').split(`\n${'-'.repeat(80)}\n\n`);
    expect(licences.map((text) => text.slice(0, text.indexOf('\n'))).sort()).toEqual(components.map((found) => found['bom-ref']).sort());
    expect(licences.filter((text) => /MIT|Apache|BSD|ISC|Permission/.exec(text) === null)).toEqual([]);
  });

  it('is the same if it is written again over an earlier package', () => {
    const contents = () => filesOf(out).map((file) => [file, read(file)]);
    const before = contents();
    writeFileSync(join(out, 'left-over.js'), '');
    expect(main('--out', out).status).toBe(0);
    expect(contents()).toEqual(before);
  });

  it('does not overwrite any other folder', () => {
    const message = `${folder} is neither empty nor an earlier package. Empty it or choose another --out\n`;
    expect(main('--out', folder)).toMatchObject({ status: 1, stdout: '', stderr: message });
    expect(filesOf(out)).toContain('package.json');
  });
});

/** Runs a program as in the image: the package is the working directory, and only the given variables are set. */
const run: Run = ([program = '', ...args], env) => {
  const programs: Readonly<Record<string, readonly string[]>> = { node: [], 'animal-store': [join(out, 'bin/animal-store')] };
  const before = programs[program];
  if (!before) throw new Error(`${program} is not in the image`);
  return spawn(process.execPath, [...before, ...args], { cwd: out, env, stdio: ['ignore', 'pipe', 'pipe'] });
};

describe('the packaged service', () => testDeployedService(run, ({ pid }) => process.kill(pid, 'SIGTERM')));
