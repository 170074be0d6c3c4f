import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RawResponse } from '@animal-store/api/testing/raw-connection';
import type { ApiDocument, DocumentedResponse, Header, Operation } from '../openapi/api-document.js';

/** The responses that a request may get. */
interface Expectation {
  readonly statuses: ReadonlySet<number>;
  /** The codes of each error status. */
  readonly codes: ReadonlyMap<number, ReadonlySet<string>>;
  readonly requiredHeaders: ReadonlyMap<number, readonly string[]>;
  readonly schemas: ReadonlyMap<number, ValidateFunction>;
}

/** Error codes by status, for requests that are rejected before routing or match no operation. */
const CODES_WITHOUT_OPERATION: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  404: 'route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  414: 'uri_too_long',
  417: 'expectation_failed',
  431: 'headers_too_large',
};
const BEFORE_ROUTING = [400, 408, 414, 417, 431];
const SUCCESSES_WITHOUT_OPERATION = [200, 204, 302, 304];
/** Matches stack frames, SQL statements and file paths. */
const INTERNALS = /\n\s+at |\.[jt]s:\d|node_modules|\/dist\/|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) /;

/** Checks responses against the OpenAPI document. A 5xx is always a violation, even if it is documented. */
export class ResponseRules {
  private readonly expectations: ReadonlyMap<Operation, Expectation>;
  private readonly anyResponse: Expectation;

  constructor(private readonly api: ApiDocument) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(api.content, 'openapi');
    this.expectations = new Map(api.operations.map((operation) => [operation, expectationOf(operation, api, ajv)]));
    this.anyResponse = merge([
      ...this.expectations.values(),
      withoutOperation([...Object.keys(CODES_WITHOUT_OPERATION).map(Number), ...SUCCESSES_WITHOUT_OPERATION]),
    ]);
  }

  /** Returns what is wrong with the response, or undefined. */
  violation(response: RawResponse, request?: { readonly method: string; readonly target: string }): string | undefined {
    const expected = request ? this.expectation(request) : this.anyResponse;
    return headerViolation(response) ?? documentViolation(response, expected, request?.method === 'HEAD');
  }

  private expectation({ method, target }: { readonly method: string; readonly target: string }): Expectation {
    const operations = this.api.matching(target);
    if (operations.length === 0) return this.anyResponse;
    if (method === 'OPTIONS') return withoutOperation([204, ...BEFORE_ROUTING]);
    const operation = operations.find((candidate) => candidate.method === (method === 'HEAD' ? 'GET' : method));
    return (operation && this.expectations.get(operation)) ?? withoutOperation([405, ...BEFORE_ROUTING]);
  }
}

function headerViolation({ status, headers }: RawResponse): string | undefined {
  if (status >= 500) return `status ${String(status)}`;
  if (headers['x-content-type-options'] !== 'nosniff') return 'no X-Content-Type-Options';
  if (!/^[\x21-\x7e]{1,128}$/.test(headers['x-request-id'] ?? '')) return 'no X-Request-Id';
  if (headers['x-powered-by'] !== undefined) return 'X-Powered-By';
  return undefined;
}

function documentViolation({ status, headers, body }: RawResponse, expected: Expectation, isHead: boolean): string | undefined {
  if (!expected.statuses.has(status)) return `status ${String(status)} is not documented`;
  const missing = expected.requiredHeaders.get(status)?.find((name) => headers[name.toLowerCase()] === undefined);
  if (missing !== undefined) return `no ${missing} on ${String(status)}`;
  if (isHead) return body === '' ? undefined : 'a body on HEAD';
  if (status >= 400) return errorViolation({ status, headers, body }, expected);
  const validate = expected.schemas.get(status);
  if (!validate || validate(JSON.parse(body))) return undefined;
  return `the body violates its schema: ${JSON.stringify(validate.errors)}`;
}

function errorViolation({ status, headers, body }: RawResponse, { codes }: Expectation): string | undefined {
  if (headers['content-type'] !== 'application/json') return `an error with the content type ${String(headers['content-type'])}`;
  if (headers['cache-control'] !== 'no-store') return 'an error without Cache-Control: no-store';
  const error = parseObject(body);
  if (!error) return 'an error that is not a JSON object';
  if (Object.keys(error).sort().join() !== 'code,message,status') return `an error with the members ${Object.keys(error).join()}`;
  const { code, message } = error;
  if (error['status'] !== status) return `status ${String(error['status'])} in the body of a ${String(status)}`;
  if (typeof code !== 'string' || !codes.get(status)?.has(code)) return `code ${String(code)} is not documented for ${String(status)}`;
  if (typeof message !== 'string' || message.trim() === '') return 'an error without a message';
  return INTERNALS.test(message) ? `internals in a message: ${message}` : undefined;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function expectationOf({ responses }: Operation, api: ApiDocument, ajv: Ajv2020): Expectation {
  const documented = [...responses].filter(([status]) => status < 500);
  const contentOf = ({ content }: DocumentedResponse) => content?.['application/json'];
  return {
    statuses: new Set(documented.map(([status]) => status)),
    codes: new Map(documented.map(([status, response]) => [status, new Set(Object.keys(contentOf(response)?.examples ?? {}))])),
    requiredHeaders: new Map(
      documented.map(([status, { headers = {} }]) => [
        status,
        Object.entries(headers).flatMap(([name, header]) => (api.resolve<Header>(header).required === true ? [name] : [])),
      ]),
    ),
    schemas: new Map(
      documented.flatMap(([status, response]) => {
        const schema = contentOf(response)?.schema;
        return status < 300 && schema ? [[status, ajv.compile(absolute(schema))] as const] : [];
      }),
    ),
  };
}

/** Returns a schema whose references also resolve from other documents. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object;
}

function withoutOperation(statuses: readonly number[]): Expectation {
  return {
    statuses: new Set(statuses),
    codes: new Map(statuses.map((status) => [status, new Set([CODES_WITHOUT_OPERATION[status] ?? ''])])),
    requiredHeaders: new Map([
      [204, ['Allow']],
      [405, ['Allow']],
    ]),
    schemas: new Map(),
  };
}

/** Returns the union of expectations, for requests whose operation is not certain. */
function merge(expectations: readonly Expectation[]): Expectation {
  const codes = new Map<number, Set<string>>();
  for (const [status, some] of expectations.flatMap((expectation) => [...expectation.codes])) {
    codes.set(status, new Set([...(codes.get(status) ?? []), ...some]));
  }
  return {
    statuses: new Set(expectations.flatMap(({ statuses }) => [...statuses])),
    codes,
    requiredHeaders: new Map([[405, ['Allow']]]),
    schemas: new Map(),
  };
}
