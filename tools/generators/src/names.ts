import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The forms of a resource's name in code. The examples are for `purchase-orders`. */
export interface ResourceNames {
  /** PurchaseOrders, purchaseOrders, purchase orders */
  readonly Entities: string;
  readonly variables: string;
  readonly texts: string;
  /** purchase-order, PurchaseOrder, purchaseOrder, PURCHASE_ORDER, purchase_order, purchase order */
  readonly file: string;
  readonly Entity: string;
  readonly variable: string;
  readonly CONSTANT: string;
  readonly code: string;
  readonly text: string;
}

/** The forms of a context's name. Its first resource has the same name. */
export interface ContextNames extends ResourceNames {
  /** purchase-orders */
  readonly context: string;
  /** purchase_orders */
  readonly schema: string;
}

// Scopes and error codes have no digits.
const KEBAB_CASE = /^[a-z]+(?:-[a-z]+)*$/;
/** Leaves room for suffixes within PostgreSQL's 63 bytes. */
const MAX_LENGTH = 40;

/** Scopes of the workspace, schemas and tables of the platform, ignored folders, the file of exports, and resources of the context access. */
const RESERVED_NAMES =
  /^(?:platform|apps|tools|public|information-schema|events|jobs|idempotency-keys|dist|bundle|coverage|index|client|api-key)$/;

/** Words that a statement of PostgreSQL must quote as the name of a schema: those with the category R or T in pg_get_keywords(). */
const RESERVED_IN_SQL = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column ' +
    'concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp ' +
    'current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike ' +
    'in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null ' +
    'offset on only or order outer overlaps placing primary references returning right select session_user similar some symmetric ' +
    'system_user table tablesample then to trailing true union unique user using variadic verbose when where window with'
  ).split(' '),
);

const { SyntaxKind } = ts;
const isReserved = (kind: ts.SyntaxKind) =>
  (kind >= SyntaxKind.FirstReservedWord && kind <= SyntaxKind.LastReservedWord) ||
  (kind >= SyntaxKind.FirstFutureReservedWord && kind <= SyntaxKind.LastFutureReservedWord);
/** Words that cannot name a variable of a module, or a property of a class. */
const RESERVED_IN_TYPESCRIPT = new Set(['arguments', 'await', 'constructor', 'eval', 'undefined']);
for (let kind = SyntaxKind.FirstKeyword; kind <= SyntaxKind.LastKeyword; kind++)
  if (isReserved(kind)) RESERVED_IN_TYPESCRIPT.add(ts.tokenToString(kind) ?? '');

/** @throws Error that names the rule */
export function assertKebabCase(name: string, what: string): void {
  if (!KEBAB_CASE.test(name))
    throw new Error(`${what} "${name}" must be in kebab-case with lower-case letters only, such as purchase-orders`);
  if (name.length > MAX_LENGTH) throw new Error(`${what} "${name}" must have at most ${String(MAX_LENGTH)} characters`);
}

/** @throws Error that names the rule */
export function namesOfContext(context: string, singular: string): ContextNames {
  assertKebabCase(context, 'the name');
  assertKebabCase(singular, 'the singular');
  if (singular === context) throw new Error(`the singular of "${context}" must differ from the plural`);
  const names = {
    context,
    schema: snakeCase(context),
    Entities: pascalCase(context),
    variables: camelCase(context),
    texts: context.replaceAll('-', ' '),
    file: singular,
    Entity: pascalCase(singular),
    variable: camelCase(singular),
    CONSTANT: snakeCase(singular).toUpperCase(),
    code: snakeCase(singular),
    text: singular.replaceAll('-', ' '),
  };
  assertNotReserved(names);
  return names;
}

function assertNotReserved(names: ContextNames): void {
  const { context, schema, file, Entity, Entities, variable, variables } = names;
  const rejection = (name: string, reason: string) =>
    new Error(`"${context}" cannot be the name of a context or resource: ${name} ${reason}`);
  for (const name of [context, file]) if (RESERVED_NAMES.test(name)) throw rejection(name, 'is a reserved name of the workspace');
  if (schema.startsWith('pg_') || RESERVED_IN_SQL.has(schema)) throw rejection(schema, 'is reserved in PostgreSQL');
  for (const name of [variable, variables]) if (RESERVED_IN_TYPESCRIPT.has(name)) throw rejection(name, 'is a reserved word of TypeScript');
  for (const name of [Entity, Entities]) if (name in globalThis) throw rejection(name, 'is a global name');
  assertDistinct(context, names);
}

/** @throws Error if two identifiers of the generated code would be equal */
export function assertDistinct(context: string, names: object): void {
  const { plain, named } = templateIdentifiers(names);
  const declared = new Set(plain);
  for (const name of named) {
    if (declared.has(name))
      throw new Error(`"${context}" cannot be the name of a context or resource: ${name} would have two meanings in the generated code`);
    declared.add(name);
  }
}

export function pascalCase(kebab: string): string {
  return kebab
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

export function camelCase(kebab: string): string {
  const pascal = pascalCase(kebab);
  return pascal.charAt(0).toLowerCase() + pascal.slice(1);
}

export function snakeCase(kebab: string): string {
  return kebab.replaceAll('-', '_');
}

/** Letters that mark `<%= name %>` in an identifier. */
const MARKED = /ǀ(\w+)ǀ/g;

let identifiers: ReadonlySet<string> | undefined;

/** Returns the identifiers that the generated code declares or imports: those of all names, and those that contain a form of these names. */
export function templateIdentifiers(names: object): { readonly plain: readonly string[]; readonly named: readonly string[] } {
  identifiers ??= readIdentifiers();
  const all = [...identifiers];
  const forms = all.filter((identifier) => identifier.search(MARKED) >= 0);
  const values = new Map(Object.entries(names) as [string, string][]);
  const known = forms.filter((form) => [...form.matchAll(MARKED)].every(([, name = '']) => values.has(name)));
  return {
    plain: all.filter((identifier) => !forms.includes(identifier)),
    named: known.map((form) => form.replaceAll(MARKED, (_, name: string) => values.get(name) ?? '')),
  };
}

function readIdentifiers(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !isOnlyProperty(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  for (const file of globSync('*/files/**/*.ts.template', { cwd: import.meta.dirname })) {
    const template = readFileSync(join(import.meta.dirname, file), 'utf8');
    const source = template.replaceAll(/<%= (\w+) %>/g, 'ǀ$1ǀ').replaceAll(/<%= parent\.(\w+) %>/g, 'ǀparent$1ǀ');
    visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  }
  return found;
}

/** A property of another object does not conflict with a variable or class. */
const isOnlyProperty = (node: ts.Identifier) =>
  (ts.isPropertyAccessExpression(node.parent) || ts.isPropertyAssignment(node.parent)) && node.parent.name === node;
