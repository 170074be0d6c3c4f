import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type FileChange, formatFiles, type Tree } from '@nx/devkit';
import ts from 'typescript';
// The tree that `nx g` itself uses; nothing is written unless it is flushed.
import { flushChanges, FsTree } from 'nx/src/generators/tree.js';
import { generateContext, generateLibraries, nextSteps } from './context/context.generator.js';
import { registerContext } from './context/register-context.js';
import { generateMigration } from './migration/migration.generator.js';
import { namesOfContext } from './names.js';
import { generateResource, type ResourceOptions } from './resource/resource.generator.js';
import { addProperty } from './source-edits.js';
import { compile, contentOf, expectFormatted } from './testing/generated-code.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));
const LAYERS = ['contract', 'domain', 'application', 'infrastructure', 'http'];
const MAX_FILES = 45;
/** The part of docs/architecture.md that the generator edits. The suite `generators` uses the whole page. */
const MAP = '- [`libs/pets`](../libs/pets/README.md): pets\n- [`libs/access`](../libs/access/README.md): keys\n';

/** Of the regular plurals in this file. */
const singularOf = (name: string) => name.slice(0, -1);
const namesOf = (name: string) => namesOfContext(name, singularOf(name));

const textOf = (tree: Tree, path: string) => tree.read(path, 'utf-8') ?? '';

/** Returns a name that no context of this workspace has. */
const free = (name: string): string => (existsSync(join(WORKSPACE, 'libs', name)) ? free(`more-${name}`) : name);

async function generate(name: string, sharded?: boolean): Promise<Tree> {
  const tree = new FsTree(WORKSPACE, false);
  tree.write('docs/architecture.md', MAP);
  await generateContext(tree, { name, singular: singularOf(name), ...(sharded && { sharded, description: 'striped' }) });
  return tree;
}

/** Has only the context `orders`, on disk, so that other generators only format what they change. */
const folder = mkdtempSync(join(tmpdir(), 'animal-store-generators-'));
cpSync(join(WORKSPACE, '.oxfmtrc.json'), join(folder, '.oxfmtrc.json'));
const orders = new FsTree(folder, false);
generateLibraries(orders, namesOf('orders'));
await formatFiles(orders);
const generated = orders.listChanges();
flushChanges(folder, generated);

const [SINGLE, DOUBLE, ZEBRAS] = [free('orders'), free('purchase-orders'), free('grey-zebras')];
const single = await generate(SINGLE);
const double = await generate(DOUBLE);
const zebras = await generate(ZEBRAS, true);
await generateMigration(zebras, { name: 'add-stripes', context: ZEBRAS });
const ZEBRA = namesOf(ZEBRAS);
// What a team may have changed.
const entityFile = `libs/${ZEBRAS}/infrastructure/src/${ZEBRA.file}.entity.ts`;
zebras.write(entityFile, textOf(zebras, entityFile).replace(/^export class/m, '// A comment.\nexport class'));
const indexFile = `libs/${ZEBRAS}/application/src/index.ts`;
zebras.write(indexFile, textOf(zebras, indexFile).replaceAll(/\{ (\w+) \}/g, '{\n  $1,\n}'));
const persistenceFile = `libs/${ZEBRAS}/infrastructure/src/${ZEBRAS}-persistence.ts`;
const withPrivileges = addProperty(textOf(zebras, persistenceFile), `${ZEBRA.variables}Persistence`, '  privileges: { service: [] }');
zebras.write(persistenceFile, withPrivileges);
const beforeResource = new Map(zebras.listChanges().map((file) => [file.path, contentOf(file)]));
await generateResource(zebras, { name: 'hoof-prints', singular: 'hoof-print', context: ZEBRAS, parent: ZEBRA.file });

afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  [SINGLE, single],
  [DOUBLE, double],
])('nx g @animal-store/tools:context %s', (context, tree) => {
  const { file: singular, Entity, Entities, variables, CONSTANT } = namesOf(context);
  const changes = tree.listChanges();
  const pathsOf = (wanted: FileChange['type']) => changes.flatMap(({ type, path }) => (type === wanted ? path : []));
  const addedLines = (path: string) => {
    const before = readFileSync(join(WORKSPACE, path), 'utf8').split('\n');
    return textOf(tree, path)
      .split('\n')
      .filter((line) => !before.includes(line));
  };

  it('generates the libraries of a context, its README, its part of the client, its guide and the spec of its routes, in no other folder', () => {
    const created = pathsOf('CREATE');
    expect([...new Set(created.map((path) => path.split('/').slice(0, 3).join('/')))].sort()).toEqual(
      [
        'apps/api/src',
        `docs/guides/${context}.md`,
        'libs/client/src',
        `libs/${context}/README.md`,
        ...LAYERS.map((layer) => `libs/${context}/${layer}`),
      ].sort(),
    );
    expect(created.length).toBeLessThanOrEqual(MAX_FILES);
    expect(changes.flatMap((file) => (/<%|%>|__/.test(contentOf(file)) ? file.path : []))).toEqual([]);
  });

  it('creates a table of idempotency keys like that of pets, with the index by which old keys are removed', () => {
    const { schema, code } = namesOf(context);
    const own = globSync(join(WORKSPACE, 'libs/pets/infrastructure/src/migrations/*-create-pets.ts')).map((path) =>
      readFileSync(path, 'utf8'),
    );
    const [migration = ''] = changes.filter(({ path }) => path.endsWith(`-create-${context}.ts`)).map(contentOf);
    const expected = keyTable(own[0]).replaceAll('pets.', `${schema}.`).replace('pet_id', `${code}_id`);
    expect(expected).toContain('CREATEINDEX');
    expect(keyTable(migration)).toBe(expected);
    expect(migration).toMatch(NAME);
  });

  it('keeps its tables on one server, unless asked', () => {
    const persistence = textOf(tree, `libs/${context}/infrastructure/src/${context}-persistence.ts`);
    expect(persistence).toContain(`schema: '${context.replaceAll('-', '_')}',\n  sharded: false,\n`);
    expect(textOf(zebras, persistenceFile)).not.toContain('sharded: false');
    expect(textOf(zebras, 'docs/architecture.md')).toContain(`(../libs/${ZEBRAS}/README.md): striped\n`);
  });

  it('tags each library with its layer and the context', () => {
    for (const layer of LAYERS) {
      const { name, nx } = JSON.parse(textOf(tree, `libs/${context}/${layer}/package.json`)) as { name: string; nx: { tags: string[] } };
      expect([name, ...nx.tags]).toEqual([`@animal-store/${context}-${layer}`, `layer:${layer}`, `scope:${context}`]);
    }
  });

  it('requires the scope for reading of each GET, which can be revalidated, and that for writing of the POST', () => {
    expect(operationsOf(textOf(tree, `libs/${context}/http/src/${context}.controller.ts`))).toEqual([
      ['Get', `${context}:read`, '@Revalidated()'],
      ['Post', `${context}:write`, '@Throws(IDEMPOTENCY_KEY_REUSED)'],
      ['Get', `${context}:read`, `@Revalidated() @Throws(${CONSTANT}_NOT_FOUND)`],
    ]);
  });

  it('provides and exports its contract to other contexts, and has the scopes that keys can have', () => {
    const module = textOf(tree, `libs/${context}/http/src/${context}.module.ts`);
    expect(module).toContain(`{ provide: ${Entity}Catalogue, useExisting: ${Entity}Repository },\n`);
    expect(module).toContain(`\n  exports: [${Entity}Catalogue],\n`);
    expect(module).toContain(`\n  scopes: ['${context}:read', '${context}:write'],\n`);
  });

  it('adds its import and its name to the app', () => {
    expect(addedLines('apps/api/src/registered-contexts.ts')).toEqual([
      `import { ${variables}Context } from '@animal-store/${context}-http';`,
      expect.stringMatching(`^export const contexts: .* = \\[.*petsContext, ${variables}Context\\];$`),
    ]);
    expect(pathsOf('UPDATE').filter((path) => /^(?:apps|libs|tools)\//.test(path))).toEqual([
      'apps/api/src/registered-contexts.ts',
      'apps/api/tsconfig.json',
      'libs/client/src/animal-store.ts',
      'libs/client/src/index.ts',
    ]);
  });

  it('adds its resource to the client', () => {
    expect(addedLines('libs/client/src/animal-store.ts')).toEqual([
      `import { ${Entities} } from './${context}.js';`,
      `  readonly ${variables}: ${Entities};`,
      `    this.${variables} = new ${Entities}(transport);`,
    ]);
    expect(addedLines('libs/client/src/index.ts')).toEqual([
      `export type { New${Entity}, ${Entity}, ${Entity}ListParams, ${Entities} } from './${context}.js';`,
    ]);
  });

  it('adds its lines to the lists of the workspace', () => {
    expect(addedLines('.github/CODEOWNERS').map((line) => line.split(/ +/))).toEqual([
      [`/libs/${context}/`, `@animal-store/${context}`],
      [`/apps/api/src/contexts/${context}.integration.spec.ts`, `@animal-store/${context}`],
      [`/libs/client/src/${context}.ts`, `@animal-store/${context}`],
      [`/docs/guides/${context}.md`, `@animal-store/${context}`],
    ]);
    expect(addedLines('docs/guides/authentication.md')).toEqual([
      `- \`${context}:read\`: \`list${Entities}\`, \`get${Entity}\``,
      `- \`${context}:write\`: \`create${Entity}\``,
    ]);
    expect(addedLines('docs/guides/changelog.md').filter((line) => line.startsWith('- '))).toEqual([
      expect.stringMatching(`^- \`list${Entities}\`, .*\`${context}:write\`\\.$`),
    ]);
    expect(addedLines('docs/guides/errors.md').filter((line) => line.includes(`${singular.replaceAll('-', '_')}_not_found`))).toHaveLength(
      1,
    );
    expect(textOf(tree, 'docs/guides/README.md')).toMatch(new RegExp(`\\(${context}\\.md\\)\\\\\\n  .*\\n\\n## Test\\n`));
    expect(textOf(tree, 'docs/architecture.md')).toContain(
      `\n- [\`libs/${context}\`](../libs/${context}/README.md): ${context.replaceAll('-', ' ')}, which clients create, list and get\n- [\`libs/access\`]`,
    );
    expect(textOf(tree, 'tsconfig.json')).toContain(`"./libs/${context}/http"`);
  });

  it('prints which file to open, how to run the tests, and which request to send', () => {
    const text = nextSteps(namesOf(context));
    expect(text).toContain(` npm run jest -- ${context}\n`);
    expect(text).toContain(` http://localhost:3000/v1/${context}\n`);
    const [, file = ''] = /Open first +(\S+)/.exec(text) ?? [];
    expect(tree.exists(file)).toBe(true);
  });

  it('rejects a context that exists', async () => {
    await expect(generateContext(tree, { name: context, singular: singularOf(context) })).rejects.toThrow(`libs/${context} already exists`);
  });
});

/** Method, scope, and other decorators of each operation of a controller. */
const operationsOf = (controller: string) =>
  [...controller.matchAll(/@(Get|Post)\(.*\)\n *@RequireScopes\('(.*)'\)\n *(@[^]*?)\s+@ApiOperation/g)].map(([, ...operation]) =>
    operation.map((part) => part.replaceAll(/\s+/g, ' ')),
  );

/** The part of a migration that creates the table of idempotency keys, without formatting. */
const keyTable = (text = '') =>
  text
    .slice(text.indexOf('CREATE TABLE', text.indexOf('// client_id')))
    .replaceAll(/\s/g, '')
    .replaceAll(',)', ')');
const NAME = /\n +name text NOT NULL CONSTRAINT \w+_name_check CHECK \(char_length\(name\) BETWEEN 1 AND 255\)\n/;

it('the code of a context, its resource and migrations compiles, also with each keyword of TypeScript that is accepted as a name', () => {
  const isAccepted = (plural: string, singular: string) => {
    try {
      return namesOfContext(plural, singular).context !== '';
    } catch {
      return false;
    }
  };
  const { FirstKeyword, LastKeyword } = ts.SyntaxKind;
  const keywords = Array.from({ length: LastKeyword - FirstKeyword + 1 }, (_, index) => String(ts.tokenToString(FirstKeyword + index)));
  const accepted = keywords.filter((word) => isAccepted(word, 'zebra') && isAccepted('zebras', word));
  expect(accepted).toEqual(expect.arrayContaining(['async', 'of', 'type']));
  const tree = new FsTree(WORKSPACE, false);
  for (const [index, word] of accepted.entries()) generateLibraries(tree, namesOfContext(word, accepted[index - 1] ?? 'zebra'));
  // The client needs the types of the OpenAPI document, which the generator writes at its end.
  const isCompiled = ({ path }: FileChange) => path.endsWith('.ts') && !/^(?:libs\/client|apps\/api)\//.test(path);
  const ofKeywords = tree.listChanges().filter(({ path }) => /^libs\/\w+\/.*(?<!\.spec)\.ts$/.test(path));
  expect(compile([...zebras.listChanges(), ...ofKeywords].filter(isCompiled), [ZEBRAS, ...accepted])).toBe('');
});

describe('nx g @animal-store/tools:resource', () => {
  /** Returns the lines that the generator added to a file, without indentation. */
  const added = (path: string) => {
    const before = (beforeResource.get(path) ?? readFileSync(join(WORKSPACE, path), 'utf8')).split('\n');
    return textOf(zebras, path)
      .split('\n')
      .flatMap((line) => (before.includes(line) ? [] : line.trim()));
  };
  const { Entity, Entities, variable, schema, code } = ZEBRA;

  it('generates the files of the resource, only in the folders of the context and in the client', () => {
    const created = zebras.listChanges().flatMap(({ type, path }) => (type === 'CREATE' && !beforeResource.has(path) ? [path] : []));
    expect(created).toHaveLength(15);
    const own = new RegExp(`^(?:libs/${ZEBRAS}/(?:${LAYERS.join('|')})|apps/api/src/contexts|libs/client)/.*hoof-print`);
    expect(created.filter((path) => !own.test(path))).toEqual([]);
    expect(created.filter((path) => /<%|%>|__/.test(textOf(zebras, path)))).toEqual([]);
  });

  it('registers the tables, which stay on one server, and their list', () => {
    const persistence = textOf(zebras, persistenceFile);
    const [entities, parents] = ['HoofPrint', Entity].map((name) => `${name}Entity, ${name}IdempotencyKeyEntity`) as [string, string];
    expect(persistence).toContain(`entities: [${parents}, ${entities}],`);
    expect(persistence).toContain(`unsharded: [${parents}, ${entities}]`);
    expect(persistence).toContain(`lists: [{ entity: HoofPrintEntity, filters: [['${variable}Id']] }]`);
    expect(persistence).toMatch(/migrations: \[Create\w+[0-9]{13}, AddStripes[0-9]{13}, CreateHoofPrints[0-9]{13}\],/);
    const [migration = ''] = zebras.children(`libs/${ZEBRAS}/infrastructure/src/migrations`).filter((path) => path.includes('hoof'));
    const inInfrastructure = (path: string) => textOf(zebras, `libs/${ZEBRAS}/infrastructure/src/${path}`);
    const text = inInfrastructure(`migrations/${migration}`);
    expect(text).toContain(`CONSTRAINT hoof_prints_${code}_id_fkey REFERENCES ${schema}.${schema},`);
    expect(text).toContain(`CREATE INDEX hoof_prints_${code}_id_id_idx ON ${schema}.hoof_prints (${code}_id, id)`);
    expect(text).toMatch(NAME);
    const [ofParent = ''] = zebras.listChanges().flatMap((file) => (file.path.endsWith(`-create-${ZEBRAS}.ts`) ? contentOf(file) : []));
    const keys = keyTable(ofParent).replaceAll('idempotency_keys', 'hoof_print_idempotency_keys').replace(`${code}_id`, 'hoof_print_id');
    expect(keyTable(text)).toBe(keys);
    expect(inInfrastructure('typeorm-hoof-print-repository.ts')).toContain(`{ hoof_prints_${code}_id_fkey: ${ZEBRA.CONSTANT}_NOT_FOUND }`);
    expect(inInfrastructure('hoof-print.entity.ts')).toMatch(
      new RegExp(`name: '${code}_id' \\}\\)\\n +${variable}Id![^]*name: 'hoof_print_id'`),
    );
  });

  it('requires the scopes of its context', () => {
    expect(operationsOf(textOf(zebras, `libs/${ZEBRAS}/http/src/hoof-prints.controller.ts`))).toEqual([
      ['Get', `${ZEBRAS}:read`, `@Revalidated() @Throws(${ZEBRA.CONSTANT}_NOT_FOUND)`],
      ['Post', `${ZEBRAS}:write`, `@Throws(${ZEBRA.CONSTANT}_NOT_FOUND, IDEMPOTENCY_KEY_REUSED)`],
    ]);
  });

  it('grants the service what it needs for the tables, if the context limits privileges: to remove old keys, too', () => {
    const privileges = [
      `SELECT, INSERT ON ${schema}.hoof_prints`,
      `USAGE ON SEQUENCE ${schema}.hoof_prints_id_seq`,
      `SELECT, INSERT, DELETE ON ${schema}.hoof_print_idempotency_keys`,
    ];
    for (const privilege of privileges) expect(textOf(zebras, persistenceFile)).toContain(`'${privilege}',\n`);
  });

  it('adds it to the client and the documents of the context', () => {
    expect(added(`libs/client/src/${ZEBRAS}.ts`)).toEqual([
      `import { HoofPrints } from './hoof-prints.js';`,
      'readonly hoofPrints: HoofPrints;',
      'constructor(private readonly transport: Transport) {',
      'this.hoofPrints = new HoofPrints(transport);',
    ]);
    expect(added('libs/client/src/index.ts')).toContain(
      "export type { NewHoofPrint, HoofPrint, HoofPrintListParams, HoofPrints } from './hoof-prints.js';",
    );
    expect(added('.github/CODEOWNERS').filter((line) => line.includes('hoof-prints'))).toHaveLength(2);
    expect(added('docs/guides/authentication.md')).toEqual([
      `- \`${ZEBRAS}:read\`: \`list${Entities}\`, \`get${Entity}\`, \`listHoofPrints\``,
      `- \`${ZEBRAS}:write\`: \`create${Entity}\`, \`createHoofPrint\``,
    ]);
    expect(added('docs/guides/changelog.md')).toContainEqual(expect.stringMatching(/^- `listHoofPrints` and `createHoofPrint`/));
  });

  it.each<[string, Partial<ResourceOptions>, string]>([
    ['an unknown context', { context: 'shops' }, 'unknown context "shops"; must be one of'],
    ['an unknown parent', { parent: 'horse' }, `the context ${ZEBRAS} has no resource "horse": `],
    ['a resource that exists', { name: 'hoof-prints', singular: 'hoof-print' }, 'the client already exports HoofPrint'],
    ['the name of its context', { name: ZEBRAS, singular: ZEBRA.file }, 'would have two meanings'],
    ['a reserved word', { name: 'classes', singular: 'class' }, 'class is a reserved word of TypeScript'],
    ['a name of the templates', { name: 'queries', singular: 'query' }, 'Query would have two meanings'],
    ['a name of its parent', { name: `${ZEBRA.file}-lists`, singular: `${ZEBRA.file}-repository` }, 'would have two meanings'],
    ['a name of the client', { name: 'error-codes', singular: 'error-code' }, 'the client already exports ErrorCode'],
    ['a name that PostgreSQL would truncate', { name: 'x'.repeat(36), singular: 'x'.repeat(35) }, 'would have more than 63 characters'],
    ['a name that is not kebab-case', { name: 'HoofPrints' }, 'must be in kebab-case'],
  ])('rejects %s', async (_what, options, reason) => {
    await expect(
      generateResource(zebras, { name: 'manes', singular: 'mane', context: ZEBRAS, parent: ZEBRA.file, ...options }),
    ).rejects.toThrow(reason);
  });

  it('names what a changed context lacks', async () => {
    const index = `libs/${ZEBRAS}/domain/src/index.ts`;
    const text = textOf(zebras, index);
    zebras.write(index, text.replace(`${Entity}Repository }`, `${Entity}Repository as OtherRepository }`));
    await expect(generateResource(zebras, { name: 'manes', singular: 'mane', context: ZEBRAS, parent: ZEBRA.file })).rejects.toThrow(
      `libs/${ZEBRAS}/domain/src/index.ts does not export ${Entity}Repository; a generated resource requires it`,
    );
    zebras.write(index, text);
  });
});

it('starts the next release in the API changelog if it has none', () => {
  const tree = new FsTree(WORKSPACE, false);
  tree.write('docs/architecture.md', MAP);
  tree.write('docs/guides/changelog.md', '# API changelog\n\n## 2.0.0\n\n- Text.\n');
  registerContext(tree, namesOf(SINGLE));
  expect(textOf(tree, 'docs/guides/changelog.md')).toMatch(
    /^# API changelog\n\n## Next release\n\n### Added\n\n- `list\w+`, .*\.\n\n## 2\.0\.0\n\n- Text\.\n$/,
  );
});

it('formats the files of a context', () => expectFormatted(generated));

describe('in a context', () => {
  it('migration generates a class that is applied last', async () => {
    const tree = new FsTree(folder, false);
    const migrations = 'libs/orders/infrastructure/src/migrations';
    const first = tree.children(migrations)[0]?.slice(0, 13) ?? '';
    await generateMigration(tree, { name: 'add-due-date', context: 'orders' });
    const [, generated = '', ...others] = tree.children(migrations).toSorted();
    expect([generated, ...others]).toEqual([expect.stringMatching(/^[0-9]{13}-add-due-date\.ts$/)]);
    const second = generated.slice(0, 13);
    expect(Number(second)).toBeGreaterThan(Number(first));
    const persistence = textOf(tree, 'libs/orders/infrastructure/src/orders-persistence.ts');
    expect(persistence).toContain(`import { AddDueDate${second} } from './migrations/${second}-add-due-date.js';`);
    expect(persistence).toContain(`migrations: [CreateOrders${first}, AddDueDate${second}],`);
    const text = textOf(tree, `${migrations}/${generated}`);
    expect(text).toMatch(/ up\(.*\n {4}throw new Error\('The migration add-due-date is not written yet'\);\n/);
    await expectFormatted(tree.listChanges());
    // Another clock was ahead of this one.
    tree.write(`${migrations}/9000000000000-of-the-future.ts`, '');
    await generateMigration(tree, { name: 'add-amount', context: 'orders' });
    expect(tree.children(migrations)).toContain('9000000000001-add-amount.ts');
  });

  it.each([
    ['an unknown context', { name: 'add-due-date', context: 'shops' }, 'unknown context "shops"; must be one of orders'],
    ['a name that is not kebab-case', { name: 'AddDueDate', context: 'orders' }, 'must be in kebab-case'],
    ['a name that exists', { name: 'create-orders', context: 'orders' }, 'create-orders.ts already exists'],
  ])('migration rejects %s', async (_what, options, reason) => {
    await expect(generateMigration(new FsTree(folder, false), options)).rejects.toThrow(reason);
  });
});

describe.each(['context', 'resource', 'migration'])('the options of %s', (generator) => {
  it('are prompted for if they are missing', () => {
    const { required, properties } = JSON.parse(readFileSync(join(import.meta.dirname, generator, 'schema.json'), 'utf8')) as {
      required: string[];
      properties: Record<string, { 'x-prompt'?: string }>;
    };
    expect(required.length).toBeGreaterThan(0);
    for (const name of required) expect(properties[name]?.['x-prompt']).toMatch(/\?$/);
  });
});
