import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import {
  type AcceptedBytes,
  type Context,
  type Deprecation,
  EXTENSIONS,
  INTERNAL_EXTENSIONS,
  INVALID_REQUEST,
  OPERATION_REMOVED,
  type RateLimitPolicy,
} from '@animal-store/http-kit';
import { type ErrorDefinition, JsonText, PRECONDITION_FAILED } from '@animal-store/kernel';
import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import {
  ACCEPT_PATCH,
  defaultErrorBody,
  type ErrorBody,
  errorsOfBytes,
  HTTP_ERRORS,
  MERGE_PATCH,
  RATE_LIMITED,
  SERVICE_UNAVAILABLE,
} from '../errors/http-errors.js';
import type { Config } from '../config/config.js';

const VERSION_PREFIX = '/v1';
const SECURITY_SCHEME = 'apiKey';

const { malformedRequest: _, malformedJson, payloadTooLarge, unsupportedMediaType, unsupportedPatch, ...withoutBody } = HTTP_ERRORS;
const { routeNotFound, methodNotAllowed, ...httpErrors } = withoutBody;
const SHARED_ERRORS = [INVALID_REQUEST, PRECONDITION_FAILED, RATE_LIMITED, SERVICE_UNAVAILABLE, ...Object.values(httpErrors)];
/** Errors of every operation that is not public. */
const KEY_ERRORS = [MISSING_API_KEY, INVALID_API_KEY, INSUFFICIENT_SCOPE];

type PublishedOperation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
type Response = Extract<PublishedOperation['responses'][string], { description: string }>;
type Headers = NonNullable<Response['headers']>;
type Operation = PublishedOperation & {
  /** Empty if the operation is public. */
  [EXTENSIONS.scopes]?: readonly string[];
  [INTERNAL_EXTENSIONS.acceptedBytes]?: AcceptedBytes;
  [INTERNAL_EXTENSIONS.deprecation]?: Deprecation;
  [EXTENSIONS.rateLimit]?: RateLimitPolicy;
  [INTERNAL_EXTENSIONS.throws]?: readonly ErrorDefinition[];
  [INTERNAL_EXTENSIONS.precondition]?: readonly ErrorDefinition[];
  [INTERNAL_EXTENSIONS.entityTag]?: Headers;
  [INTERNAL_EXTENSIONS.revalidation]?: Headers;
};

export type ServerAddresses = Pick<Config, 'publicBaseUrl' | 'stagingBaseUrl' | 'docsUrl'>;

/** The OpenAPI 3.1 document of the app. */
export class OpenApiDocument {
  /** Set before the first use. */
  app!: INestApplication;
  private json: JsonText<OpenAPIObject> | undefined;

  constructor(
    private readonly addresses: ServerAddresses,
    private readonly contexts: readonly Context[],
  ) {}

  /** Creates the document of `/v1` from the decorators and the error catalogue. */
  create(): OpenAPIObject {
    const { addresses, app, contexts } = this;
    const { publicBaseUrl, stagingBaseUrl, docsUrl } = addresses;
    const server = publicBaseUrl === undefined ? 'The server that serves this document' : 'Production';
    const service: Omit<OpenAPIObject, 'paths'> = {
      openapi: '3.1.0',
      info: {
        title: 'Animal Store',
        description: DESCRIPTION,
        version: '1.0.0',
        contact: { name: 'Animal Store maintainers' },
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [
        { url: `${publicBaseUrl ?? ''}${VERSION_PREFIX}`, description: server },
        ...(stagingBaseUrl === undefined ? [] : [{ url: `${stagingBaseUrl}${VERSION_PREFIX}`, description: 'Staging' }]),
      ],
      ...(docsUrl !== undefined && { externalDocs: { description: 'Guides', url: docsUrl } }),
      tags: contexts.flatMap(({ tag }) => tag ?? []),
      security: [{ [SECURITY_SCHEME]: [] }],
    };
    const { paths, components } = withNullType(SwaggerModule.createDocument(app, service));
    for (const { patch } of Object.values(paths)) acceptMergePatch(patch);
    const operations = Object.values(paths).flatMap((item) => Object.values(item) as Operation[]);
    const Error = errorSchema(operations);
    const responses = Object.fromEntries(operations.flatMap(errorResponsesOf).map(({ name, response }) => [name, response]));
    for (const operation of operations) complete(operation);
    return {
      ...service,
      paths: Object.fromEntries(Object.entries(paths).map(([path, item]) => [path.slice(VERSION_PREFIX.length), item])),
      components: {
        schemas: Object.assign({ Error }, components?.schemas, ...contexts.map(({ schemas }) => schemas)) as Schemas,
        responses,
        parameters: SHARED_PARAMETERS,
        headers: SHARED_HEADERS,
        securitySchemes: {
          [SECURITY_SCHEME]: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'ast_<environment>_…',
            description: 'The API key of your client.',
          },
        },
      },
    };
  }

  /** Created on first use, because that takes longer than the rest of the start. */
  get text(): JsonText<OpenAPIObject> {
    return (this.json ??= JsonText.of(this.create()));
  }
}

/** Returns the document with the type `null` of OpenAPI 3.1 in place of `nullable: true` of OpenAPI 3.0, which @nestjs/swagger writes. */
function withNullType<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map((item: unknown) => withNullType(item)) as Node;
  // Extensions contain instances of classes.
  if (typeof node !== 'object' || node === null || Object.getPrototypeOf(node) !== Object.prototype) return node;
  const members = Object.entries(node).map(([name, member]) => [name, withNullType<unknown>(member)]);
  const schema = Object.fromEntries(members) as Record<string, unknown>;
  return (schema['nullable'] === true ? orNull(schema) : schema) as Node;
}

const orNull = ({ nullable: _nullable, description, ...schema }: Record<string, unknown>) => ({
  ...(description !== undefined && { description }),
  anyOf: [schema, { type: 'null' }],
});

/** Documents the second media type of the body of a PATCH operation. */
function acceptMergePatch(operation: Operation | undefined): void {
  const { content } = (operation?.requestBody ?? {}) as { content?: Record<string, object> };
  if (content?.['application/json']) content[MERGE_PATCH] = content['application/json'];
}

const DESCRIPTION = `The catalogue of animals offered in a store.

Every operation that does not say otherwise requires an API key: \`Authorization: Bearer <API_KEY>\`.

Identifiers are 64-bit integers, sent as JSON numbers. Use a JSON parser that does not round them.

Every error response has the shape \`Error\`. Unknown paths return
404 \`${routeNotFound.code}\`. Unsupported methods return 405 \`${methodNotAllowed.code}\`, and the \`Allow\` header lists the supported ones.

Requests are rate-limited per client. The \`RateLimit\` header holds the number of remaining requests.

Every GET operation also supports HEAD. Every path supports OPTIONS, which returns \`Allow\` and requires no key.`;

function errorsOf(operation: Operation): readonly ErrorBody[] {
  const {
    [INTERNAL_EXTENSIONS.acceptedBytes]: acceptedBytes,
    [INTERNAL_EXTENSIONS.deprecation]: deprecation,
    [INTERNAL_EXTENSIONS.throws]: throws = [],
    [INTERNAL_EXTENSIONS.precondition]: precondition = [],
  } = operation;
  const ofJson = [malformedJson, payloadTooLarge, isPatch(operation) ? unsupportedPatch : unsupportedMediaType];
  const ofBody = acceptedBytes ? Object.values(errorsOfBytes(acceptedBytes)) : operation.requestBody ? ofJson : [];
  const own = [
    ...(isPublic(operation) ? [] : KEY_ERRORS),
    ...ofBody,
    ...(deprecation ? [OPERATION_REMOVED] : []),
    ...throws,
    ...precondition,
  ];
  return [...SHARED_ERRORS, ...own].map(defaultErrorBody);
}

function errorSchema(operations: readonly Operation[]) {
  const codes = [...operations.flatMap(errorsOf), routeNotFound, methodNotAllowed].map(({ code }) => code);
  return {
    type: 'object',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        pattern: '^[a-z]+(_[a-z]+)*$',
        description: 'Machine-readable error code. More codes may be added.',
        examples: [...new Set(codes)].sort(),
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
  'X-Request-Id': header("The request's X-Request-Id if it is valid, otherwise a generated one.", '5f0c7a52-9f3e-4f5e-8f0b-6c1d2a3b4c5d'),
  'X-Content-Type-Options': header('Clients must not guess a different content type.', 'nosniff'),
  'Cache-Control': header('Errors must not be cached.', 'no-store'),
  Deprecation: header('Only on deprecated operations: the date since which they are (RFC 9745).', '@1764892800', false),
  Sunset: header('Only on deprecated operations: their removal date (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT', false),
  'Preference-Applied': header('Present only if the request has `Prefer: handling=strict`.', 'handling=strict', false),
  RateLimit: header(
    'Remaining requests of the client, or of the address on a public operation, and seconds until the limit is reset.',
    '"default";r=5999;t=60',
    false,
  ),
  'RateLimit-Policy': header('Maximum number of requests, and the time window in seconds.', '"default";q=6000;w=60', false),
  'Retry-After': header('Seconds to wait before a retry.', '1'),
  Link: header(
    'URL of the guide to the error, `rel="help"` (RFC 8288), if there are guides. On deprecated operations also that of the replacement.',
    '<https://docs.example.com/guides/errors.html#invalid_request>; rel="help"',
    false,
  ),
} as const;

const shared = (...names: (keyof typeof SHARED_HEADERS)[]): Headers =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers of every response. */
const COMMON_HEADERS = shared('X-Request-Id', 'X-Content-Type-Options', 'RateLimit-Policy', 'RateLimit', 'Preference-Applied');

/** Headers of the successful responses of a deprecated operation. */
const DEPRECATION_HEADERS: Headers = {
  ...shared('Deprecation', 'Sunset'),
  Link: header('URL of the operation that replaces this one (RFC 8288).', '</v1/pets>; rel="successor-version"'),
};

const ERROR_HEADERS = shared('Cache-Control', 'Link', 'Deprecation', 'Sunset');

const HEADERS_OF_STATUS: Readonly<Record<string, Headers>> = {
  401: { 'WWW-Authenticate': header('How to authenticate (RFC 6750).', 'Bearer realm="animal-store", error="invalid_token"') },
  403: {
    'WWW-Authenticate': header('The required scope (RFC 6750).', 'Bearer realm="animal-store", error="insufficient_scope", scope="…"'),
  },
  429: shared('Retry-After'),
  503: shared('Retry-After'),
};

const ACCEPT_PATCH_HEADER = { 'Accept-Patch': header('The supported media types (RFC 5789).', ACCEPT_PATCH) };

const parameter = (name: string, description: string) =>
  ({ name, in: 'header', required: false, description, schema: { type: 'string' } }) as const;

const SHARED_PARAMETERS = {
  Prefer: parameter('Prefer', 'With `handling=strict` (RFC 7240), unknown query parameters and unknown members of the body are errors.'),
  RequestId: parameter(
    'X-Request-Id',
    'Returned on the response and included in every log line of the request. A value that is not 1 to 128 visible ASCII characters, or that contains an API key, is replaced by a generated one.',
  ),
  TraceParent: parameter('traceparent', 'Trace context of the caller (W3C Trace Context). Log lines contain its trace id.'),
} as const;

/** Adds what all operations have in common, and replaces the extensions of decorators by what they mean. */
function complete(operation: Operation): void {
  const { description = '', parameters = [], responses } = operation;
  const { [EXTENSIONS.scopes]: scopes = [], [EXTENSIONS.rateLimit]: policy, [INTERNAL_EXTENSIONS.deprecation]: deprecation } = operation;
  const { [INTERNAL_EXTENSIONS.entityTag]: entityTag, [INTERNAL_EXTENSIONS.revalidation]: revalidation } = operation;
  // A 304 has the Link of the cached page.
  const { Link: link } = (responses['200'] as Response | undefined)?.headers ?? {};
  const added: Record<string, Headers | undefined> = {
    200: { ...revalidation, ...entityTag },
    201: entityTag,
    304: { ...(link && { Link: link }), ...revalidation },
  };
  for (const [status, response] of Object.entries(responses) as [string, Response][])
    response.headers = { ...COMMON_HEADERS, ...response.headers, ...added[status], ...(deprecation && DEPRECATION_HEADERS) };
  for (const { status, name } of errorResponsesOf(operation)) responses[status] = { $ref: `#/components/responses/${name}` };
  const access = isPublic(operation)
    ? 'Requires no API key.'
    : `Requires the scope${scopes.length > 1 ? 's' : ''} ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`;
  const rateLimit = policy
    ? ` ${isPublic(operation) ? 'An address' : 'A client'} can send ${policy.requestsPerMinute} requests per minute (rate limit \`${policy.name}\`).`
    : '';
  operation.description = `${description} ${access}${rateLimit}`.trimStart();
  operation.parameters = [...parameters, ...Object.keys(SHARED_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` }))];
  if (isPublic(operation)) {
    operation.security = [];
    Reflect.deleteProperty(operation, EXTENSIONS.scopes);
  }
  for (const extension of Object.values(INTERNAL_EXTENSIONS)) Reflect.deleteProperty(operation, extension);
}

function isPublic({ [EXTENSIONS.scopes]: scopes }: Operation): boolean {
  return scopes?.length === 0;
}

function isPatch({ requestBody }: Operation): boolean {
  return requestBody !== undefined && 'content' in requestBody && MERGE_PATCH in requestBody.content;
}

/** Returns the error responses of an operation. Operations share a response, with a name such as `InvalidRequestOrMalformedJson`. */
function errorResponsesOf(operation: Operation): readonly { status: string; name: string; response: Response }[] {
  const pascalCase = (name: string) => name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  const byStatus = [...Map.groupBy(errorsOf(operation), ({ status }) => status)].sort(([a], [b]) => a - b);
  return byStatus.map(([status, errors]) => {
    const rejectsPatch = status === 415 && isPatch(operation);
    const rejectsBytes = operation[INTERNAL_EXTENSIONS.acceptedBytes] && (status === 413 || status === 415);
    const headers = { ...COMMON_HEADERS, ...ERROR_HEADERS, ...HEADERS_OF_STATUS[status], ...(rejectsPatch && ACCEPT_PATCH_HEADER) };
    const examples = Object.fromEntries(errors.map((error) => [error.code, { value: error }]));
    return {
      status: String(status),
      name:
        errors.map(({ code }) => pascalCase(code)).join('Or') +
        (rejectsPatch ? 'OfPatch' : rejectsBytes ? `Of${pascalCase(operation.operationId ?? '')}` : ''),
      response: {
        description: errors.map(({ message }) => (errors.length > 1 ? `- ${message}` : message)).join('\n'),
        headers,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } },
      },
    };
  });
}
