import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { HttpResponse } from './http-response.js';
import { INT64_MAX, INT64_MIN } from './arbitraries.js';
import { parseWithSource } from './json.js';

const CURRENT_DOCUMENT = new URL('../../../../docs/openapi.json', import.meta.url);
const DOCUMENT_ID = 'openapi.json';
const ERROR_SCHEMA = ['components', 'schemas', 'Error'];

interface Reference {
  readonly $ref: string;
}

interface Header {
  readonly required?: boolean;
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, object>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, DocumentedResponse | Reference>>;
}

interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Checks responses against an OpenAPI document. */
export class OpenApiConformance {
  private readonly document: OpenApi;
  private readonly ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  private readonly prefixes: ReadonlySet<string>;
  /** All headers that the document names. Others, such as those of proxies, are ignored. */
  private readonly headers: ReadonlySet<string>;

  /** @param text OpenAPI document as JSON. The default is docs/openapi.json. */
  constructor(text = readFileSync(CURRENT_DOCUMENT, 'utf8')) {
    this.ajv.addKeyword({ keyword: 'int64', validate: (_schema: unknown, value: unknown) => isInt64(value) });
    const document = JSON.parse(text, withStrictRules) as OpenApi;
    this.ajv.addSchema(document, DOCUMENT_ID);
    this.document = document;
    const responses = Object.values(document.paths)
      .flatMap((item) => Object.values(item).flatMap((operation) => Object.values(operation.responses)))
      .map((response) => this.resolve(response));
    this.headers = new Set(responses.flatMap(({ headers = {} }) => Object.keys(headers).map((name) => name.toLowerCase())));
    const serverPaths = document.servers.map(({ url }) => new URL(url, 'http://localhost').pathname);
    this.prefixes = new Set(serverPaths.flatMap((path) => [path, path.slice(path.lastIndexOf('/'))]));
  }

  /**
   * Returns how the response violates the document; empty if it conforms. Outside the documented operations, only errors are checked.
   * @param path of the request, or its template: `/v1/pets/7?x=y` or `/v1/pets/{petId}`
   */
  violations(method: string, path: string, response: HttpResponse): string[] {
    const found = this.find(method, path);
    if (!found) return response.status >= 400 && method !== 'HEAD' ? this.bodyViolations(ERROR_SCHEMA, response.text) : [];
    const { operation, pointer } = found;
    const item = operation.responses[response.status];
    if (!item) return [`status ${response.status} is not documented`];
    const documented = this.resolve(item);
    const place = '$ref' in item ? stepsOf(item) : [...pointer, 'responses', String(response.status)];
    return [...this.headerViolations(documented, response), ...this.contentViolations(method, documented, place, response)];
  }

  private find(method: string, path: string): { operation: Operation; pointer: string[] } | undefined {
    const target = path.split('?', 1)[0] ?? '';
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase();
    for (const [template, item] of Object.entries(this.document.paths)) {
      const pattern = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`);
      const matches = [...this.prefixes].some((prefix) => target.startsWith(prefix) && pattern.test(target.slice(prefix.length)));
      if (matches && item[name]) return { operation: item[name], pointer: ['paths', template, name] };
    }
    return undefined;
  }

  private headerViolations({ headers = {} }: DocumentedResponse, response: HttpResponse): string[] {
    const documented = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
    return [
      ...Object.entries(headers)
        .filter(([name, header]) => this.resolve(header).required === true && !(name.toLowerCase() in response.headers))
        .map(([name]) => `the header ${name} is missing`),
      ...Object.keys(response.headers)
        .filter((name) => this.headers.has(name) && !documented.has(name))
        .map((name) => `the header ${name} is not documented for ${response.status}`),
    ];
  }

  private contentViolations(
    method: string,
    { content = {} }: DocumentedResponse,
    pointer: readonly string[],
    { headers, text }: HttpResponse,
  ): string[] {
    const documented = Object.keys(content);
    if (documented.length === 0) return text === '' ? [] : [`there is a body: ${text.slice(0, 100)}`];
    const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? 'none';
    if (!documented.includes(type)) return [`the content type ${type} is not documented`];
    return method === 'HEAD' || !type.endsWith('json') ? [] : this.bodyViolations([...pointer, 'content', type, 'schema'], text);
  }

  private bodyViolations(pointer: readonly string[], text: string): string[] {
    let body: unknown;
    try {
      body = parseWithSource(text, (_key, value, { source }) => exactly(value, source));
    } catch {
      return [`the body is not JSON: ${text.slice(0, 100)}`];
    }
    const validate = this.validator(pointer);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(({ instancePath, keyword, message }) => `the body${instancePath} ${message ?? keyword}`);
  }

  private validator(pointer: readonly string[]): ValidateFunction {
    const fragment = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = this.ajv.getSchema(`${DOCUMENT_ID}#/${fragment}`);
    if (!validate) throw new Error(`the document has no schema at /${pointer.join('/')}`);
    return validate;
  }

  private resolve<Item extends object>(item: Item | Reference): Item {
    if (!('$ref' in item)) return item;
    return stepsOf(item).reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], this.document) as Item;
  }
}

function stepsOf({ $ref }: Reference): string[] {
  return $ref.slice('#/'.length).split('/');
}

let current: OpenApiConformance | undefined;

/** Expects that the response conforms to the document, by default docs/openapi.json. */
export function expectDocumented(
  method: string,
  path: string,
  response: HttpResponse,
  conformance: OpenApiConformance = (current ??= new OpenApiConformance()),
): void {
  const request = `${method} ${path}: ${response.status} ${response.text.slice(0, 200)}`;
  expect({ request, violations: conformance.violations(method, path, response) }).toEqual({ request, violations: [] });
}

/** Returns a bigint for an integer that a number cannot represent exactly, and other values unchanged. */
function exactly(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value) || !/^-?[0-9]+$/.test(source)) return value;
  return BigInt(source);
}

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value);
}

/**
 * Replaces int64 types by the keyword `int64`, since `integer` of JSON Schema rejects bigints. Rejects undocumented members, which clients
 * ignore, because later versions may add some.
 */
function withStrictRules(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value)) return value;
  if (value.type === 'object') return { ...value, additionalProperties: false };
  if (!('format' in value) || value.format !== 'int64') return value;
  const { type, format: _format, ...rest } = value;
  return Array.isArray(type) && type.includes('null') ? { ...rest, anyOf: [{ int64: true }, { type: 'null' }] } : { ...rest, int64: true };
}
