import { readFile } from 'node:fs/promises';
import openapiTS, {
  astToString,
  type OpenAPI3,
  type OperationObject,
  type ParameterObject,
  type ReferenceObject,
} from 'openapi-typescript';
import { format, type FormatConfig } from 'oxfmt';
import ts from 'typescript';

export const GENERATED_FILE = new URL('../../../../../libs/client/src/openapi.generated.ts', import.meta.url);

const FORMAT = new URL('../../../../../.oxfmtrc.json', import.meta.url);
const HEADER = '// Generated from docs/openapi.json by `npx nx openapi api`, without responses and header fields. Do not edit.\n\n';
const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const BIGINT_OR_NULL = ts.factory.createUnionTypeNode([BIGINT, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);

/** The other generated types are for responses and routes, which the client does not use. */
const NEEDED_TYPES: readonly string[] = ['components', 'operations'];

interface Schema {
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/**
 * Returns the parts of an OpenAPI document that the client needs as TypeScript source: the types of schemas and parameters, error codes and
 * the names of int64 members.
 */
export async function generateTypes(text: string): Promise<string> {
  const document = parseWithSource(text, keepUnsafeIntegersAsText) as OpenAPI3 & {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const types = await openapiTS(withoutResponsesAndHeaders(document), {
    alphabetize: true,
    // A member with a default is optional in a request.
    defaultNonNullable: false,
    // The default type, number, is not exact above 2^53.
    transform: ({ format: name, type }) => (name === 'int64' ? (type.includes('null') ? BIGINT_OR_NULL : BIGINT) : undefined),
  });
  const codes = errorCodes(document.components.schemas['Error']);
  const source = [
    HEADER,
    astToString(types.filter((type) => ts.isInterfaceDeclaration(type) && NEEDED_TYPES.includes(type.name.text))),
    '/** The error codes of this version of the service. */\n',
    `export type KnownErrorCode = ${codes.map((code) => `'${code}'`).join(' | ')};\n\n`,
    '/** Names of the members and parameters that are int64. */\n',
    `export const INT64_MEMBERS: ReadonlySet<string> = new Set(${JSON.stringify(int64Members(document))});\n`,
  ].join('');
  const options = JSON.parse(await readFile(FORMAT, 'utf8')) as FormatConfig;
  return (await format(GENERATED_FILE.pathname, source, options)).code;
}

/** Removes responses and header parameters: the client uses the schemas of the bodies, and sets the headers itself. */
function withoutResponsesAndHeaders(document: OpenAPI3): OpenAPI3 {
  const { components: { schemas = {}, parameters = {} } = {}, paths = {}, ...rest } = structuredClone(document);
  const isHeader = (parameter: ParameterObject | ReferenceObject): boolean => {
    if (!('$ref' in parameter)) return parameter.in === 'header';
    const shared = parameters[parameter.$ref.split('/').at(-1) ?? ''];
    return shared !== undefined && isHeader(shared);
  };
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path) as OperationObject[])) {
    delete operation.responses;
    operation.parameters = (operation.parameters ?? []).filter((parameter) => !isHeader(parameter));
  }
  const shared = Object.entries(parameters).filter(([, parameter]) => !isHeader(parameter));
  return { ...rest, paths, components: { schemas, parameters: Object.fromEntries(shared) } };
}

type SourceReviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
/** The signature of ES2026, which TypeScript's library does not have yet. */
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

/** Keeps integers above 2^53 as text. Such integers are examples, which become comments. */
function keepUnsafeIntegersAsText(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? source : value;
}

function errorCodes(schema: Schema | undefined): string[] {
  const { enum: all, examples } = schema?.properties?.['code'] ?? {};
  const codes = all ?? examples ?? [];
  if (codes.length === 0) throw new Error('the schema Error lists no codes');
  return [...codes].sort();
}

/** Throws if a name is int64 in one schema and has another type in another schema, because the client finds int64 members by name. */
function int64Members(document: object): string[] {
  const isInt64 = new Map<string, boolean>();
  const addMember = (name: string, schema: object) => {
    const int64 = 'format' in schema && schema.format === 'int64';
    if ((isInt64.get(name) ?? int64) !== int64) throw new Error(`${name} is int64 in one schema and has another type in another schema`);
    isInt64.set(name, int64);
  };
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties, name, schema } = node as { properties?: Record<string, object>; name?: unknown; schema?: object };
    for (const [member, memberSchema] of Object.entries(properties ?? {})) addMember(member, memberSchema);
    if (typeof name === 'string' && schema) addMember(name, schema);
    for (const child of Object.values(node)) visit(child);
  };
  visit(document);
  return [...isInt64].flatMap(([name, int64]) => (int64 ? [name] : [])).sort();
}
