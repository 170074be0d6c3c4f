import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { readProjects, ROOT } from './workspace.js';

const from = (module: string) => `export * from '${module}';\n`;
const library = (name: string) => from(`@animal-store/${name}`);
const load = (module: string) => `export const load = () => import('${module}');\n`;

/** A violation of each rule of eslint.config.mjs: the file, its code, and a part of the message. It is empty for allowed code. */
const VIOLATIONS: readonly (readonly [file: string, code: string, message: string])[] = [
  ['libs/pets/infrastructure/src/x.ts', library('pets-domain') + library('database'), ''],
  ['libs/kernel/src/x.ts', library('database'), '"layer:kernel"'],
  ['libs/pets/contract/src/x.ts', library('pets-domain'), '"layer:contract"'],
  ['libs/http-kit/src/x.ts', library('database'), '"layer:http-kit"'],
  ['libs/database/src/x.ts', library('http-kit'), '"layer:platform"'],
  ['libs/local-postgres/src/x.ts', library('database'), '"layer:local"'],
  ['libs/client/src/x.ts', library('kernel'), '"layer:client"'],
  ['libs/pets/domain/src/x.ts', library('pets-application'), '"layer:domain"'],
  ['libs/pets/application/src/x.ts', library('pets-infrastructure'), '"layer:application"'],
  ['libs/pets/infrastructure/src/x.ts', library('pets-http'), '"layer:infrastructure"'],
  ['libs/pets/http/src/x.ts', library('pets-infrastructure'), '"layer:http"'],
  ['libs/pets/http/src/x.module.ts', library('database'), '"layer:http"'],
  ['libs/test-kit/src/x.ts', library('http-kit'), '"layer:test-kit"'],
  ['apps/api/src/x.ts', library('local-postgres'), '"layer:app"'],
  ['apps/api/src/x.ts', load('@animal-store/local-postgres'), '"layer:app"'],
  ['apps/api-e2e/src/x.ts', library('pets-http'), '"layer:e2e"'],
  ['libs/access/application/src/x.ts', library('pets-domain'), '"scope:access"'],
  ['libs/database/src/x.ts', library('pets-domain'), '"scope:platform"'],
  ['apps/api/src/x.ts', library('start'), '"scope:apps"'],
  ['libs/pets/application/src/x.ts', from('../../domain/src/pet.js'), 'relative or absolute path'],
  ['libs/pets/domain/src/x.ts', library('pets-domain'), 'Projects should use relative imports'],
  ['apps/api/src/x.ts', from('avvio'), 'Transitive or unresolvable dependencies'],
  ['libs/pets/http/src/x.ts', from('./index.js'), 'Import the file itself'],
  ['apps/api/src/x.ts', from('./testing/x.js'), 'Only specs and test support may import test support'],
  ['apps/api/src/errors/x.ts', from('./testing/x.js'), 'Only specs and test support may import test support'],
  ['apps/cli/src/x.ts', from('./testing/x.js'), 'Only specs and test support may import test support'],
  ['libs/kernel/src/x.ts', from('./testing/x.js'), 'Only specs and test support may import test support'],
  ['apps/api/src/errors/x.ts', from('../authentication/x.js'), 'In the API, errors may only import'],
  ['apps/api/src/planted/x.ts', from('../errors/x.js'), 'to API_FOLDERS'],
  ['apps/api/src/http/x.ts', load('../validation/x.js'), 'Dynamic imports in such a folder'],
  ['libs/database/src/statements/x.ts', from('../batching/x.js'), 'In the database library, statements may only import'],
  ['apps/cli/src/x.ts', library('local-postgres'), 'Import it dynamically'],
  ...['kernel', 'client', 'pets/contract', 'pets/domain', 'access/application', 'planted/domain'].map(
    (name) => [`libs/${name}/src/x.ts`, from('typeorm'), 'must not import npm packages, Node.js modules or settings'] as const,
  ),
  ['libs/pets/domain/src/x.spec.ts', from('node:fs'), 'must not import npm packages, Node.js modules or settings'],
  ['libs/pets/application/src/x.ts', library('kernel/settings'), 'must not import npm packages, Node.js modules or settings'],
  ['libs/kernel/src/x.ts', from('./settings/validators.js'), 'must not import npm packages, Node.js modules or settings'],
  ['libs/kernel/src/x.ts', load('node:fs'), 'must not use dynamic imports'],
  ['libs/pets/domain/src/x.ts', 'export const x = process;\n', 'must not use Node.js globals'],
  ['libs/pets/domain/src/x.ts', 'export const x = Buffer;\n', 'must not use Node.js globals'],
  ['libs/kernel/src/x.ts', 'export const x = /^(?:a+)+$/;\n', 'exponential backtracking'],
  ['apps/cli/src/x.ts', '// oxlint-disable-next-line no-var\nexport const x = 1;\n', "'oxlint-disable' comment"],
  ['libs/http-kit/src/x.ts', "import { Header } from '@nestjs/common';\nexport const x = Header('Link', '');\n", 'in lower case'],
  ['apps/api/src/http/x.ts', "export const x = (reply: Headers) => reply.removeHeader('Link');\n", 'in lower case'],
  ['libs/pets/domain/src/x.spec.ts', "import { it } from '@jest/globals';\nit.only('x', () => undefined);\n", 'must not be focused'],
  ['apps/cli/src/x.spec.ts', "import { describe } from '@jest/globals';\ndescribe.skip('x', () => undefined);\n", 'must not be focused'],
  ['apps/cli/src/x.ts', '// eslint-disable-next-line no-var\nexport const x = 1;\n', "'noInlineConfig' setting"],
  ['apps/cli/src/x.ts', "import { Server } from 'node:net';\nexport type X = Server;\n", 'only used as types'],
  ['tools/x.mjs', 'x();\n', "'x' is not defined"],
];

// The projects without their dependencies, so that no violation is reported as an import cycle.
const projects = readProjects();
const nodes = projects.map(({ name, packageName, root, tags, exports }) => {
  const js = packageName && { packageName, packageExports: { '.': './src/index.ts', ...exports }, isInPackageManagerWorkspaces: true };
  return [name, { name, type: 'lib', data: { root, tags, targets: {}, metadata: js && { js } } }] as const;
});
const packages = ['typeorm', 'fastify', '@nestjs/common', '@jest/globals'].map(
  (name) => [`npm:${name}`, { type: 'npm', name: `npm:${name}`, data: { packageName: name, version: '1.0.0' } }] as const,
);
const dependencies = Object.fromEntries(projects.map(({ name }) => [name, []]));
const graph = { nodes: Object.fromEntries(nodes), externalNodes: Object.fromEntries(packages), dependencies };
const folder = mkdtempSync(join(tmpdir(), 'animal-store-rules-'));
writeFileSync(join(folder, 'project-graph.json'), JSON.stringify(graph));
writeFileSync(join(folder, 'file-map.json'), JSON.stringify({ fileMap: { projectFileMap: {}, nonProjectFiles: [] } }));
afterAll(() => rmSync(folder, { recursive: true }));
// Nx reads the path of the graph when it is loaded.
Object.assign(process.env, { NX_WORKSPACE_DATA_DIRECTORY: folder, NX_TASK_TARGET_PROJECT: 'checks' });
const { ESLint } = await import('eslint');
const eslint = new ESLint({ cwd: ROOT });

it.each(VIOLATIONS)('%s: %j is reported, if it is a violation', async (file, code, message) => {
  const [result] = await eslint.lintText(code, { filePath: join(ROOT, file) });
  const expected: unknown[] = message === '' ? [] : [expect.stringContaining(message)];
  expect(result?.messages.map((found) => found.message)).toEqual(expected);
});
