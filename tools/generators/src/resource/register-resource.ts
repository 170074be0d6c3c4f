import type { Tree } from '@nx/devkit';
import { addChange, addOwners, CLIENT, exportFromClient, ROUTE_SPECS } from '../context/register-context.ts';
import { addExport, addImport, addMember, addProperty, addToArray, exportsOf } from '../source-edits.ts';
import { editFile, readText } from '../tree.ts';
import type { NestedNames } from './resource.generator.ts';

const UNSHARDED_CONTEXT = /^ {2}sharded: false\b/m;

const persistenceOf = (context: string) => `libs/${context}/infrastructure/src/${context}-persistence.ts`;

/** Adds the entries of a resource to the files of its context, and to those that all contexts share. */
export function registerResource(tree: Tree, names: NestedNames): void {
  addExports(tree, names);
  registerInPersistence(tree, names);
  registerInModule(tree, names);
  registerInClient(tree, names);
  registerInGuides(tree, names);
}

export function isDistributed(tree: Tree, { context, parent }: NestedNames): boolean {
  const persistence = readText(tree, persistenceOf(context));
  return !UNSHARDED_CONTEXT.test(persistence) && !new RegExp(`\\bunsharded: \\[[^\\]]*\\b${parent.Entity}Entity\\b`).test(persistence);
}

function addExports(tree: Tree, { context, file, resource, Entity, Entities, CONSTANT }: NestedNames): void {
  const exports: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    domain: {
      [file]: `New${Entity}, type New${Entity}Input, type ${Entity}, ${CONSTANT}_NAME_MAX_LENGTH`,
      [`${file}-repository`]: `type ${Entity}Filter, ${Entity}Repository`,
    },
    application: { [resource]: `Create${Entity}, List${Entities}` },
    infrastructure: { [`typeorm-${file}-repository`]: `TypeOrm${Entity}Repository` },
  };
  for (const [layer, modules] of Object.entries(exports)) {
    editFile(tree, `libs/${context}/${layer}/src/index.ts`, (index) =>
      Object.entries(modules).reduce((source, [module, exported]) => {
        const taken = exported.split(/,? (?:type )?/).find((name) => exportsOf(source).includes(name));
        if (taken !== undefined) throw new Error(`libs/${context}/${layer} already exports ${taken}`);
        return addExport(source, exported, `./${module}.js`);
      }, index),
    );
  }
}

/** The foreign key requires that the tables of both resources stay on one server with Citus. */
function registerInPersistence(tree: Tree, names: NestedNames): void {
  const { context, contextVariable, timestamp, schema, table, code, file, resource, Entity, Entities, parent } = names;
  const Migration = `Create${Entities}${timestamp}`;
  const own = [`${Entity}Entity`, `${Entity}IdempotencyKeyEntity`];
  const parents = [`${parent.Entity}Entity`, `${parent.Entity}IdempotencyKeyEntity`];
  editFile(tree, persistenceOf(context), (persistence) => {
    const present = parents.filter((entity) => persistence.includes(entity));
    let text = addImport(persistence, Migration, `./migrations/${timestamp}-create-${resource}.js`);
    for (const entity of own) text = addImport(text, entity, `./${file}.entity.js`);
    for (const entity of own) text = addToArray(text, 'entities', entity);
    text = addToArray(text, 'migrations', Migration);
    const owner = `${contextVariable}Persistence`;
    const list = (property: string, elements: readonly string[]) => {
      if (!new RegExp(`^  ${property}: \\[`, 'm').test(text)) text = addProperty(text, owner, `${property}: []`);
      for (const element of elements) text = addToArray(text, property, element);
    };
    if (!UNSHARDED_CONTEXT.test(text)) list('unsharded', [...present, ...own]);
    list('lists', [`{ entity: ${Entity}Entity, filters: [['${parent.variable}Id']] }`]);
    if (!/^ {2}privileges:/m.test(text)) return text;
    const privileges = [
      `SELECT, INSERT ON ${schema}.${table}`,
      `USAGE ON SEQUENCE ${schema}.${table}_id_seq`,
      `SELECT, INSERT, DELETE ON ${schema}.${code}_idempotency_keys`,
    ];
    return privileges.reduce((edited, privilege) => addToArray(edited, 'service', `'${privilege}'`), text);
  });
}

function registerInModule(tree: Tree, { context, resource, Entity, Entities, parent }: NestedNames): void {
  const imports: Readonly<Record<string, readonly string[]>> = {
    '@animal-store/http-kit': ['provideUseCase'],
    [`@animal-store/${context}-application`]: [`Create${Entity}`, `List${Entities}`],
    [`@animal-store/${context}-domain`]: [`${Entity}Repository`, `${parent.Entity}Repository`],
    [`@animal-store/${context}-infrastructure`]: [`TypeOrm${Entity}Repository`],
    [`./${resource}.controller.js`]: [`${Entities}Controller`],
  };
  const providers = [
    `{ provide: ${Entity}Repository, useClass: TypeOrm${Entity}Repository }`,
    `provideUseCase(Create${Entity}, ${Entity}Repository)`,
    `provideUseCase(List${Entities}, ${Entity}Repository, ${parent.Entity}Repository)`,
  ];
  editFile(tree, `libs/${context}/http/src/${context}.module.ts`, (module) => {
    let text = module;
    for (const [from, imported] of Object.entries(imports)) for (const name of imported) text = addImport(text, name, from);
    text = addToArray(text, 'controllers', `${Entities}Controller`);
    for (const provider of providers) text = addToArray(text, 'providers', provider);
    return addProperty(text, 'schemas', `${Entities}: { type: 'array', items: { $ref: '#/components/schemas/${Entity}' } }`);
  });
}

/** Adds `client.visits.treatments`. */
function registerInClient(tree: Tree, { resource, Entity, Entities, variables, parent, context }: NestedNames): void {
  editFile(tree, `${CLIENT}/${parent.resource}.ts`, (source) =>
    addImport(addMember(source, parent.Entities, variables, Entities), Entities, `./${resource}.js`),
  );
  exportFromClient(tree, `New${Entity}, ${Entity}, ${Entity}ListParams, ${Entities}`, resource);
  addOwners(tree, context, [`/${ROUTE_SPECS}/${resource}.integration.spec.ts`, `/${CLIENT}/${resource}.ts`]);
}

function registerInGuides(tree: Tree, { context, texts, Entity, Entities, parent }: NestedNames): void {
  const guide = 'docs/guides/authentication.md';
  const operations = { read: `list${Entities}`, write: `create${Entity}` };
  for (const [access, operation] of Object.entries(operations)) {
    const scope = `- \`${context}:${access}\`: `;
    if (!readText(tree, guide).includes(`\n${scope}`)) throw new Error(`${guide} has no line "${scope}" for the operation ${operation}`);
    editFile(tree, guide, (page) => page.replace(new RegExp(`^${scope}.*$`, 'm'), (line) => `${line}, \`${operation}\``));
  }
  addChange(
    tree,
    `- \`list${Entities}\` and \`create${Entity}\` for the ${texts} of one ${parent.text}, with the scopes of \`${context}\`.`,
  );
}
