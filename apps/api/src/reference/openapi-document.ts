import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import {
  type Deprecation,
  DEPRECATION_EXTENSION,
  ENTITY_TAG_EXTENSION,
  INVALID_REQUEST,
  PRECONDITION_EXTENSION,
  PublicUrl,
  RATE_LIMIT_EXTENSION,
  type RateLimitPolicy,
  REVALIDATION_EXTENSION,
  SCOPES_EXTENSION,
  THROWS_EXTENSION,
  OPERATION_REMOVED,
} from '@animal-store/http-kit';
import { type ErrorDefinition, PRECONDITION_FAILED } from '@animal-store/kernel';
import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { defaultErrorBody, type ErrorBody, helpLink } from '../errors/error-response.js';
import {
  ACCEPT_PATCH,
  HTTP_ERRORS,
  type HttpErrorDefinition,
  MERGE_PATCH,
  RATE_LIMITED,
  SERVICE_UNAVAILABLE,
} from '../errors/http-errors.js';
import { REQUEST_ID_SCHEMA } from '../observability/identify-requests.js';
import { withNullType } from './null-type.js';

const VERSION_PREFIX = '/v1';
const SECURITY_SCHEME = 'apiKey';

const definitions = (...list: (ErrorDefinition | HttpErrorDefinition)[]): readonly ErrorBody[] => list.map(defaultErrorBody);

/** Errors of every operation, of operations with a body or a patch, of deprecated operations, and of requests outside the operations. */
const SHARED_ERRORS = {
  everyOperation: definitions(
    INVALID_REQUEST,
    MISSING_API_KEY,
    INVALID_API_KEY,
    INSUFFICIENT_SCOPE,
    HTTP_ERRORS.requestTimeout,
    PRECONDITION_FAILED,
    HTTP_ERRORS.uriTooLong,
    HTTP_ERRORS.expectationFailed,
    RATE_LIMITED,
    HTTP_ERRORS.headersTooLarge,
    HTTP_ERRORS.internalError,
    SERVICE_UNAVAILABLE,
  ),
  withBody: definitions(HTTP_ERRORS.malformedJson, HTTP_ERRORS.payloadTooLarge, HTTP_ERRORS.unsupportedMediaType),
  withPatch: definitions(HTTP_ERRORS.malformedJson, HTTP_ERRORS.payloadTooLarge, HTTP_ERRORS.unsupportedPatch),
  deprecated: definitions(OPERATION_REMOVED),
  outsideOperations: definitions(HTTP_ERRORS.routeNotFound, HTTP_ERRORS.methodNotAllowed),
} as const;

type PublishedOperation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Schema = Schemas[string];
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
type Response = Extract<PublishedOperation['responses'][string], { description: string }>;
type Headers = NonNullable<Response['headers']>;
type Operation = PublishedOperation & {
  [SCOPES_EXTENSION]?: readonly string[];
  [DEPRECATION_EXTENSION]?: Deprecation;
  [RATE_LIMIT_EXTENSION]?: RateLimitPolicy;
  [THROWS_EXTENSION]?: readonly ErrorDefinition[];
  [PRECONDITION_EXTENSION]?: readonly ErrorDefinition[];
  [ENTITY_TAG_EXTENSION]?: Headers;
  [REVALIDATION_EXTENSION]?: Headers;
};

export interface ServerAddresses {
  readonly publicBaseUrl: string | undefined;
  readonly docsUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
}

/** Additions of a context to the document. */
export interface DocumentedContext {
  readonly tag?: { readonly name: string; readonly description: string };
  /** Named schemas that no class declares. */
  readonly schemas?: Schemas;
}

/** Creates the OpenAPI 3.1 document of `/v1` from the decorators and the error catalogue. */
export function createOpenApiDocument(
  app: INestApplication,
  addresses: ServerAddresses,
  contexts: readonly DocumentedContext[],
): OpenAPIObject {
  const service = describeService(addresses, contexts);
  const { paths, components } = withNullType(SwaggerModule.createDocument(app, service));
  for (const { patch } of Object.values(paths)) acceptMergePatch(patch);
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as Operation[]);
  const publicUrl = new PublicUrl(addresses.publicBaseUrl);
  const schemas = [{ Error: errorSchema(operations) }, components?.schemas ?? {}, ...contexts.map((context) => context.schemas ?? {})];
  const completed = (item: OpenAPIObject['paths'][string]) =>
    Object.entries(item).map(([method, operation]) => [method, completeOperation(operation as Operation, publicUrl)] as const);
  return {
    ...service,
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [path.slice(VERSION_PREFIX.length), Object.fromEntries(completed(item))]),
    ),
    components: {
      schemas: byName(schemas.flatMap((named) => Object.entries(named))),
      responses: byName(operations.flatMap((operation) => sharedResponses(operation))),
      parameters: SHARED_PARAMETERS,
      headers: SHARED_HEADERS,
      securitySchemes: {
        [SECURITY_SCHEME]: {
          scheme: 'bearer',
          bearerFormat: 'ast_<environment>_…',
          type: 'http',
          description: 'The API key of your client.',
        },
      },
    },
  };
}

/** Documents the second media type of the body of a PATCH operation. */
function acceptMergePatch(operation: Operation | undefined): void {
  const { content } = (operation?.requestBody ?? {}) as { content?: Record<string, object> };
  if (content?.['application/json']) content[MERGE_PATCH] = content['application/json'];
}

/** Returns the entries as an object sorted by name. If a name occurs several times, the last one is used. */
function byName<Value>(entries: readonly (readonly [string, Value])[]): Record<string, Value> {
  return Object.fromEntries([...entries].sort(([a], [b]) => a.localeCompare(b)));
}

function describeService(
  { publicBaseUrl, stagingBaseUrl, docsUrl }: ServerAddresses,
  contexts: readonly DocumentedContext[],
): Omit<OpenAPIObject, 'paths'> {
  const server =
    publicBaseUrl === undefined
      ? { url: VERSION_PREFIX, description: 'The server that serves this document' }
      : { url: `${publicBaseUrl}${VERSION_PREFIX}`, description: 'Production' };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Animal Store',
      description: DESCRIPTION,
      version: '1.0.0',
      contact: { name: 'Animal Store maintainers' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [server, ...(stagingBaseUrl === undefined ? [] : [{ url: `${stagingBaseUrl}${VERSION_PREFIX}`, description: 'Staging' }])],
    ...(docsUrl !== undefined && { externalDocs: { description: 'Guides', url: docsUrl } }),
    tags: contexts.flatMap(({ tag }) => tag ?? []),
    security: [{ [SECURITY_SCHEME]: [] }],
  };
}

const DESCRIPTION = `The catalogue of animals offered in a store.

Every operation requires an API key: \`Authorization: Bearer <API_KEY>\`.

Identifiers are 64-bit integers, sent as JSON numbers. Use a JSON parser that does not round them.

Every error response has the shape \`Error\`. Unknown paths return
${SHARED_ERRORS.outsideOperations.map(({ code, status }) => `${String(status)} \`${code}\``).join('. Unsupported methods return ')}, and the \`Allow\` header lists the supported ones.

Requests are rate-limited per client. The \`RateLimit\` header holds the number of remaining requests.

Every GET operation also supports HEAD. Every path supports OPTIONS, which returns \`Allow\` and requires no key.`;

/** Returns every error that the operation can respond with. */
function errorsOf(operation: Operation): readonly ErrorBody[] {
  const { [DEPRECATION_EXTENSION]: deprecation, [THROWS_EXTENSION]: throws = [], [PRECONDITION_EXTENSION]: precondition = [] } = operation;
  return [
    ...SHARED_ERRORS.everyOperation,
    ...(isPatch(operation) ? SHARED_ERRORS.withPatch : operation.requestBody ? SHARED_ERRORS.withBody : []),
    ...(deprecation ? SHARED_ERRORS.deprecated : []),
    ...[...throws, ...precondition].map(defaultErrorBody),
  ];
}

function errorSchema(operations: readonly Operation[]): Schema {
  const codes = new Set([...operations.flatMap(errorsOf), ...SHARED_ERRORS.outsideOperations].map(({ code }) => code));
  return {
    type: 'object',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        pattern: '^[a-z]+(_[a-z]+)*$',
        description: 'Machine-readable error code. More codes may be added.',
        examples: [...codes].sort(),
      },
      message: {
        type: 'string',
        description: 'Human-readable description. The text may change.',
        examples: ['limit must be an integer from 1 to 100'],
      },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status code of the response.', examples: [400] },
    },
    additionalProperties: false,
  };
}

const header = (description: string, example: string, required = true) =>
  ({ description, required, schema: { type: 'string' }, example }) as const;

const SHARED_HEADERS = {
  RequestId: header("The request's X-Request-Id if it is valid, otherwise a generated one.", '5f0c7a52-9f3e-4f5e-8f0b-6c1d2a3b4c5d'),
  NoSniff: header('Clients must not guess a different content type.', 'nosniff'),
  NoStore: header('Errors must not be cached.', 'no-store'),
  Deprecation: header('Only on deprecated operations: the date since which the operation is deprecated (RFC 9745).', '@1764892800', false),
  Sunset: header(
    'Only on deprecated operations: the date on which the operation is removed (RFC 8594).',
    'Thu, 05 Dec 2030 00:00:00 GMT',
    false,
  ),
  PreferenceApplied: header('Present only if the request has `Prefer: handling=strict`.', 'handling=strict', false),
  RateLimit: header('Number of remaining requests of the client, and seconds until the limit is reset.', '"default";r=5999;t=60', false),
  RateLimitPolicy: header(
    'Maximum number of requests of the client per time window, and the length of the window in seconds.',
    '"default";q=6000;w=60',
    false,
  ),
  RetryAfter: header('Seconds to wait before a retry.', '1'),
} as const;

const shared = (name: keyof typeof SHARED_HEADERS) => ({ $ref: `#/components/headers/${name}` });

const parameter = (name: string, description: string, schema: Schema = { type: 'string' }) =>
  ({ name, in: 'header', required: false, description, schema }) as const;

const SHARED_PARAMETERS = {
  Prefer: parameter('Prefer', 'With `handling=strict` (RFC 7240), unknown query parameters and unknown members of the body are errors.'),
  RequestId: parameter(
    'X-Request-Id',
    'Returned on the response and included in every log line of the request. A value that is not 1 to 128 visible ASCII characters, or that contains an API key, is replaced by a generated one.',
    REQUEST_ID_SCHEMA,
  ),
  TraceParent: parameter(
    'traceparent',
    'Trace context of the caller (W3C Trace Context). Its trace id is included in every log line of the request.',
  ),
} as const;

/** Statuses of requests whose client is not known. */
const BEFORE_AUTHENTICATION = ['401', '408', '414', '417', '431'];
/** Statuses of requests that are rejected before their preference is read. */
const BEFORE_PREFERENCE = [...BEFORE_AUTHENTICATION, '403', '410', '429'];

function completeOperation(operation: Operation, publicUrl: PublicUrl): Operation {
  const {
    [DEPRECATION_EXTENSION]: deprecation,
    [THROWS_EXTENSION]: _throws,
    [PRECONDITION_EXTENSION]: _precondition,
    [ENTITY_TAG_EXTENSION]: entityTag,
    [REVALIDATION_EXTENSION]: revalidation,
    ...published
  } = operation;
  const { [SCOPES_EXTENSION]: scopes = [], [RATE_LIMIT_EXTENSION]: policy } = operation;
  const rateLimit = policy ? ` A client can send ${policy.requestsPerMinute} requests per minute (rate limit \`${policy.name}\`).` : '';
  // A 304 has the Link of the cached page.
  const { Link: link } = (published.responses['200'] as Response | undefined)?.headers ?? {};
  const added: Record<string, Headers | undefined> = {
    200: { ...revalidation, ...entityTag },
    201: entityTag,
    304: { ...(link && { Link: link }), ...revalidation },
  };
  for (const [status, response] of Object.entries(published.responses)) {
    if (!response || '$ref' in response) continue;
    response.headers = {
      ...headersOf(status, { ...response.headers, ...added[status] }),
      ...(deprecation && deprecationHeaders(deprecation, publicUrl)),
    };
  }
  return {
    ...published,
    description:
      `${published.description ?? ''} Requires the scope ${scopes.map((scope) => `\`${scope}\``).join(', ')}.${rateLimit}`.trimStart(),
    parameters: [
      ...(published.parameters ?? []),
      ...Object.keys(SHARED_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    responses: {
      ...published.responses,
      ...Object.fromEntries(
        errorsByStatus(operation).map(([status, errors]) => [status, { $ref: `#/components/responses/${nameOf(errors, operation)}` }]),
      ),
    },
  };
}

/** Returns the headers of every response with this status, plus its own. */
function headersOf(status: string, own: Headers = {}): Headers {
  return {
    'X-Request-Id': shared('RequestId'),
    'X-Content-Type-Options': shared('NoSniff'),
    ...own,
    ...(!BEFORE_AUTHENTICATION.includes(status) && { 'RateLimit-Policy': shared('RateLimitPolicy'), RateLimit: shared('RateLimit') }),
    ...(!BEFORE_PREFERENCE.includes(status) && { 'Preference-Applied': shared('PreferenceApplied') }),
  };
}

function deprecationHeaders({ deprecatedAt, removedAt, successor }: Deprecation, publicUrl: PublicUrl): Headers {
  return {
    Deprecation: header('Date since which the operation is deprecated (RFC 9745).', `@${String(deprecatedAt.getTime() / 1000)}`),
    Sunset: header('Date on which the operation is removed (RFC 8594).', removedAt.toUTCString()),
    Link: header('URL of the operation that replaces this one (RFC 8288).', `<${publicUrl.of(successor)}>; rel="successor-version"`),
  };
}

function errorsByStatus(operation: Operation): (readonly [status: string, errors: readonly ErrorBody[]])[] {
  const byStatus = Map.groupBy(errorsOf(operation), ({ status }) => status);
  return [...byStatus].sort(([a], [b]) => a - b).map(([status, errors]) => [String(status), errors]);
}

/** Returns whether the operation is a PATCH with a body. */
function isPatch({ requestBody }: Operation): boolean {
  return requestBody !== undefined && 'content' in requestBody && MERGE_PATCH in requestBody.content;
}

/** Returns the name of a response, such as `MissingApiKeyOrInvalidApiKey`. Operations share a response if its codes are the same. */
function nameOf(errors: readonly ErrorBody[], operation: Operation): string {
  const pascalCase = (code: string) => code.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  const suffix = errors[0]?.status === 415 && isPatch(operation) ? 'OfPatch' : '';
  return errors.map(({ code }) => pascalCase(code)).join('Or') + suffix;
}

/** Returns the error responses of an operation by name, with an example for each code. */
function sharedResponses(operation: Operation): (readonly [name: string, Response])[] {
  return errorsByStatus(operation).map(([status, errors]) => [
    nameOf(errors, operation),
    {
      description: errors.map(({ message }) => (errors.length > 1 ? `- ${message}` : message)).join('\n'),
      headers: headersOf(status, {
        'Cache-Control': shared('NoStore'),
        Link: header(
          'URL of the guide to the error, `rel="help"` (RFC 8288), if the operator publishes the guides. On deprecated operations also the URL of the operation that replaces this one, `rel="successor-version"`.',
          helpLink({ docs: 'https://docs.example.com' }, errors[0]?.code ?? '') ?? '',
          false,
        ),
        Deprecation: shared('Deprecation'),
        Sunset: shared('Sunset'),
        ...headersOfStatus(status, operation),
      }),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(errors.map((error) => [error.code, { value: error }])),
        },
      },
    },
  ]);
}

function headersOfStatus(status: string, operation: Operation): Headers {
  switch (status) {
    case '401':
      return { 'WWW-Authenticate': header('How to authenticate (RFC 6750).', 'Bearer realm="animal-store", error="invalid_token"') };
    case '403': {
      const challenge = `Bearer realm="animal-store", error="insufficient_scope", scope="${(operation[SCOPES_EXTENSION] ?? []).join(' ')}"`;
      return { 'WWW-Authenticate': header('The required scope (RFC 6750).', challenge) };
    }
    case '415':
      return isPatch(operation) ? { 'Accept-Patch': header('The supported media types (RFC 5789).', ACCEPT_PATCH) } : {};
    case '429':
    case '503':
      return { 'Retry-After': shared('RetryAfter') };
    default:
      return {};
  }
}
