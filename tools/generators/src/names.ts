import lemmatizer from 'wink-lemmatizer';
import { POSTGRES_KEYWORDS } from './postgres-keywords.ts';

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

/** Reserved names: scopes of the workspace, schemas and tables of the platform in PostgreSQL, and a name that the boundary probes use. */
const RESERVED_NAMES = ['platform', 'apps', 'tools', 'public', 'information-schema', 'planted', 'idempotency-keys', 'events', 'jobs'];

const RESERVED_IN_TYPESCRIPT = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for
  function if implements import in instanceof interface let new null package private protected public return static super switch
  this throw true try typeof undefined var void while with yield`.split(/\s+/),
);
/** Names that the generated code declares or imports, and `client`, because its table of idempotency keys has a column client_id. */
export const USED_BY_TEMPLATES = new Set(
  `a adapterName added after again all api app args b beforeAll beforeEach body client clientId code components context count
  create created createdHeaders database dataSource describe describeMigrations different empty entities
  etag existing expect expected expectError expectStatus fc fetch fetchOf filter first found headers i id ids index input insert
  invalid isSame isVisibleText it items key last limit link linksOf listPage matching message missing name names newBody next one
  operations options other others overrides own page pageHeaders pageOf pages params path pathOf postTo provideUseCase publicUrl
  query queryRunner read reader reason recorded rejected replayed reply repository request requests respondWithCreated
  respondWithPage response result results retrieve revalidate row rows second sent stringifyJson text third throwConstraintErrors
  throwDomainErrors transport unit url useDatabase useOwnService value values violations visibleTextRule visibleTexts visited
  AnimalStore ApiBody ApiCreatedResponse ApiExtraModels ApiOkResponse ApiOperation APIPromise
  ApiProperty ApiSchema ApiTags BatchedRepository Body Column Controller CreateOptions DataSource DomainError Dto Entity
  ErrorDefinition FastifyReply Get Global HttpResponse IdempotencyKey IdempotencyKeyEntity IdParam INPUT IsVisibleText JsonText
  MigrationInterface MISSING Module OTHER Page PagePromise PageQueryOf PageRequest PATH Persistence Post PrimaryGeneratedColumn
  PublicUrl Query QueryRunner Repository RequestIdempotencyKey RequestOptions RequireScopes Res Revalidated STORED Throws
  Transport`.split(/\s+/),
);

/** @throws Error that names the rule */
export function assertKebabCase(name: string, what: string): void {
  if (!KEBAB_CASE.test(name))
    throw new Error(`${what} "${name}" must be in kebab-case with lower-case letters only, such as purchase-orders`);
  if (name.length > MAX_LENGTH) throw new Error(`${what} "${name}" must have at most ${String(MAX_LENGTH)} characters`);
}

/** @throws Error that names the rule */
export function namesOfContext(context: string, singular = singularOf(context)): ContextNames {
  assertKebabCase(context, 'the name');
  if (singular === undefined) {
    throw new Error(`cannot derive the singular of "${context}": use a plural such as orders, or add --singular=<singular>`);
  }
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

function assertNotReserved({ context, schema, Entity, Entities, variable, variables }: ContextNames): void {
  const rejection = (name: string, reason: string) =>
    new Error(`"${context}" cannot be the name of a context or resource: ${name} ${reason}`);
  if (RESERVED_NAMES.includes(context)) throw rejection(context, 'is a reserved name of the workspace');
  if (context.startsWith('new-')) throw rejection(context, 'would conflict with the class names of new entities');
  if (POSTGRES_KEYWORDS.includes(schema) || schema.startsWith('pg_')) throw rejection(schema, 'is a reserved word of SQL');
  for (const name of [variable, variables]) {
    if (RESERVED_IN_TYPESCRIPT.has(name)) throw rejection(name, 'is a reserved word of TypeScript');
    if (USED_BY_TEMPLATES.has(name)) throw rejection(name, 'is used in the generated code');
  }
  for (const name of [Entity, Entities]) {
    if (name in globalThis || USED_BY_TEMPLATES.has(name)) throw rejection(name, 'is a global name or is used in the generated code');
  }
}

/** Returns the name with its last word in the singular, or undefined if that is unknown. */
export function singularOf(plural: string): string | undefined {
  const start = plural.lastIndexOf('-') + 1;
  const word = plural.slice(start);
  // In WordNet, "specie" are coins.
  if (word === 'species') return undefined;
  const noun = lemmatizer.noun(word);
  if (noun !== word) return plural.slice(0, start) + noun;
  // Regular plurals that WordNet lacks, such as webhooks.
  return /[^aeiousw]s$/.test(word) ? plural.slice(0, -1) : undefined;
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
