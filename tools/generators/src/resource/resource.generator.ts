import { join } from 'node:path';
import { formatFiles, generateFiles, OverwriteStrategy, type Tree } from '@nx/devkit';
import { nextTimestamp } from '../migration/migration.generator.ts';
import { assertDistinct, camelCase, namesOfContext, pascalCase, type ResourceNames, snakeCase } from '../names.ts';
import { exportsOf } from '../source-edits.ts';
import { assertContext, readText, updateOpenApi } from '../tree.ts';
import { assertFreeInClient, CLIENT, ROUTE_SPECS } from '../context/register-context.ts';
import { isDistributed, registerResource } from './register-resource.ts';

const FILES = join(import.meta.dirname, 'files');
/** Of PostgreSQL, in bytes. */
const MAX_IDENTIFIER_LENGTH = 63;
const LAYERS = ['domain', 'application', 'infrastructure', 'http'];

export interface ResourceOptions {
  readonly name: string;
  readonly context: string;
  readonly parent: string;
  readonly singular: string;
}

/** Names in the templates. The examples are for the resource `treatments` of a visit. */
export interface NestedNames extends ResourceNames {
  /** treatments: in paths and file names */
  readonly resource: string;
  /** treatments: the table */
  readonly table: string;
  /** visits: the context, its schema, and its name in code */
  readonly context: string;
  readonly schema: string;
  readonly contextVariable: string;
  readonly timestamp: string;
  readonly parent: ResourceNames & { readonly resource: string; readonly table: string };
}

/** Generates a resource below another one of the context: its part of each library and of the client, and the spec of its routes. */
export async function generateResource(tree: Tree, options: ResourceOptions): Promise<() => void> {
  const names = namesOf(tree, options);
  assertFree(tree, names);
  const isMoved = isDistributed(tree, names);
  generateResourceFiles(tree, names);
  registerResource(tree, names);
  await formatFiles(tree);
  return () => {
    updateOpenApi(tree);
    console.log(nextSteps(names, isMoved));
  };
}

function generateResourceFiles(tree: Tree, names: NestedNames): void {
  const { context } = names;
  const generate = (folder: string, target: string) =>
    generateFiles(tree, join(FILES, folder), target, { ...names }, { overwriteStrategy: OverwriteStrategy.ThrowIfExisting });
  for (const layer of LAYERS) generate(layer, `libs/${context}/${layer}/src`);
  generate('client', CLIENT);
  generate('routes', ROUTE_SPECS);
}

function namesOf(tree: Tree, { name, context, parent, singular }: ResourceOptions): NestedNames {
  assertContext(tree, context);
  const own = namesOfContext(name, singular);
  const { schema: table } = own;
  const names = {
    ...own,
    resource: name,
    table,
    context,
    schema: snakeCase(context),
    contextVariable: camelCase(context),
    timestamp: nextTimestamp(tree, `libs/${context}/infrastructure/src/migrations`),
    parent: namesOfParent(tree, context, parent),
  };
  const longest = [`${table}_${names.parent.code}_id_id_idx`, `${names.code}_idempotency_keys_created_at_idx`];
  const tooLong = longest.find((index) => index.length > MAX_IDENTIFIER_LENGTH);
  const ofParent = Object.entries(names.parent).map(([key, value]) => [`parent${key}`, value] as const);
  assertDistinct(name, { ...names, ...Object.fromEntries(ofParent) });
  // PostgreSQL would truncate it, and then the adapter would not recognise its constraints.
  if (tooLong !== undefined) throw new Error(`"${name}" is too long: the index ${tooLong} would have more than 63 characters`);
  return names;
}

/** Returns the names of a resource of the context. Its plural is the name of its table. */
function namesOfParent(tree: Tree, context: string, parent: string): NestedNames['parent'] {
  const entity = `libs/${context}/infrastructure/src/${parent}.entity.ts`;
  if (!tree.exists(entity)) throw new Error(`the context ${context} has no resource "${parent}": ${entity} is missing`);
  const text = readText(tree, entity);
  const Class = `${pascalCase(parent)}Entity`;
  const start = text.search(new RegExp(`^export class ${Class}\\b`, 'm'));
  // Other decorators and comments may come between.
  const tables = [...text.slice(0, Math.max(start, 0)).matchAll(/^@Entity\(\{ schema: '(\w+)', name: '(\w+)' \}\)$/gm)];
  const [, schema, table = ''] = tables.at(-1) ?? [];
  if (schema !== snakeCase(context)) throw new Error(`${entity} has no class ${Class} with a table of the schema ${snakeCase(context)}`);
  const resource = table.replaceAll('_', '-');
  const { schema: _, context: __, ...names } = namesOfContext(resource, parent);
  const index = `libs/${context}/domain/src/index.ts`;
  assertExports(tree, index, [`${names.Entity}Repository`, names.Entity, `${names.CONSTANT}_NOT_FOUND`]);
  const builder = `libs/${context}/infrastructure/src/testing/${parent}-builder.ts`;
  if (!tree.exists(builder)) throw new Error(`${builder} is missing; a generated resource requires it`);
  return { ...names, resource, table };
}

function assertExports(tree: Tree, file: string, required: readonly string[]): void {
  const exported = exportsOf(readText(tree, file));
  const missing = required.filter((name) => !exported.includes(name));
  if (missing.length > 0) throw new Error(`${file} does not export ${missing.join(' and ')}; a generated resource requires it`);
}

/** @throws Error if the client or the API already has a name of the resource */
function assertFree(tree: Tree, names: NestedNames): void {
  const { resource, Entity, Entities } = names;
  assertFreeInClient(tree, names, `"${resource}" cannot be the name of a resource`);
  const document = readText(tree, 'docs/openapi.json');
  for (const operation of [`list${Entities}`, `create${Entity}`]) {
    if (document.includes(`"operationId": "${operation}"`))
      throw new Error(`"${resource}" cannot be the name of a resource: the API already has the operation ${operation}`);
  }
}

function nextSteps({ context, schema, file, resource, Entity, parent }: NestedNames, isMoved: boolean): string {
  const table = `${schema}.${parent.table}`;
  const moved = `\n  With Citus   ${table} is now in \`unsharded\`. The migration fails in a database in which this table is already distributed`;
  return `
The API now serves /v1/${parent.resource}/{${parent.variable}Id}/${resource}.

  Open first   libs/${context}/domain/src/${file}.ts
  Check        in ${ROUTE_SPECS}/${resource}.integration.spec.ts, NEW_${parent.CONSTANT} must be a valid body of create${parent.Entity}${isMoved ? moved : ''}
  Test         npm run jest -- ${context}
  Use          client.${parent.variables}.${camelCase(resource)}.create(${parent.variable}Id, { name: 'first' }) returns the new ${Entity}
  Read         docs/adding-a-context.md
`;
}
