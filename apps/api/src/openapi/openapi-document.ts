import { SUNSET_EXTENSION, THROWS_EXTENSION } from '@animal-store/http-contract';
import type { ErrorDefinition } from '@animal-store/kernel';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { contexts } from '../contexts.js';
import type { ErrorBody } from '../errors/error-body.js';
import { publicError, SHARED_ERRORS } from '../errors/error-catalogue.js';

const VERSION_PREFIX = '/v1';
const STAGING_PLACEHOLDER = 'https://staging.animal-store.example';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & {
  [SUNSET_EXTENSION]?: string;
  [THROWS_EXTENSION]?: readonly ErrorDefinition[];
};
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
type Responses = Operation['responses'];
type Headers = NonNullable<Extract<Responses[string], { headers?: unknown }>['headers']>;

export interface ServerAddresses {
  readonly publicBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
}

/** The OpenAPI 3.1 document of `/v1`, made from the decorators and the error catalogue. */
export function createOpenApiDocument(app: INestApplication, addresses: ServerAddresses): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, describeService(addresses));
  const schemas: [string, Schema][] = [{ Error: ERROR_SCHEMA }, document.components?.schemas ?? {}, ...contexts.map((context) => context.schemas ?? {})].flatMap(
    (named) => Object.entries(named) as [string, Schema][],
  );
  return {
    ...document,
    paths: Object.fromEntries(
      Object.entries(document.paths).map(([path, item]) => [
        path.slice(VERSION_PREFIX.length),
        Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, completeOperation(operation as Operation)])),
      ]),
    ),
    components: { ...document.components, schemas: Object.fromEntries(schemas.sort(([a], [b]) => a.localeCompare(b))) },
  };
}

function describeService({ publicBaseUrl = '', stagingBaseUrl = STAGING_PLACEHOLDER }: ServerAddresses): Omit<OpenAPIObject, 'paths'> {
  return new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Animal Store')
    .setVersion('1.0.0')
    .setDescription(DESCRIPTION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setContact('Animal Store maintainers', 'https://github.com/animal-store/animal-store', '')
    .addServer(`${publicBaseUrl}${VERSION_PREFIX}`, 'Production')
    .addServer(`${stagingBaseUrl}${VERSION_PREFIX}`, 'Staging')
    .addTag('pets', 'The catalogue of animals.')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'ast_<environment>_…', description: 'An API key.' }, 'apiKey')
    .addSecurityRequirements('apiKey')
    .build();
}

const DESCRIPTION = `The catalogue of animals offered in a store.

Identifiers are 64-bit integers written as JSON numbers: read them with a parser that keeps every digit.

Every error has the shape \`Error\`. Besides the errors of the operations below, an unknown path answers
${SHARED_ERRORS.outsideOperations.map(({ code, status }) => `${String(status)} \`${code}\``).join(', a method that a path does not have ')}.`;

const ERROR_SCHEMA = {
  type: 'object',
  required: ['code', 'message', 'status'],
  properties: {
    code: { type: 'string', pattern: '^[a-z]+(_[a-z]+)*$', description: 'Machine-readable error code; more may be added.', examples: ['invalid_request'] },
    message: { type: 'string', description: 'Human-readable description; may change.', examples: ['limit must be an integer from 1 to 100'] },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status code of the response.', examples: [400] },
  },
  additionalProperties: false,
} as const;

const header = (description: string, example: string) => ({ description, schema: { type: 'string' }, example }) as const;

const REQUEST_ID_HEADER: Headers = {
  'X-Request-Id': header('The X-Request-Id of the request when it was sane, else a new one.', '5f0c7a52-9f3e-4f5e-8f0b-6c1d2a3b4c5d'),
};

const HEADERS_OF_STATUS: Readonly<Record<number, Headers>> = {
  401: { 'WWW-Authenticate': header('How to authenticate (RFC 6750).', 'Bearer realm="animal-store", error="invalid_token"') },
  403: {
    'WWW-Authenticate': header('The scope that is needed (RFC 6750).', 'Bearer realm="animal-store", error="insufficient_scope", scope="pets:write"'),
  },
  503: { 'Retry-After': header('Seconds to wait.', '1') },
};

const DEPRECATION_HEADERS: Headers = {
  Deprecation: header('Since when the operation is deprecated (RFC 9745).', '@1764892800'),
  Sunset: header('When the operation is removed (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT'),
  Link: header('What replaces the operation.', '</v1/pets>; rel="successor-version"'),
};

const REQUEST_ID_PARAMETER = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: 'Comes back on the answer and stands on every log line of the request: 1 to 128 visible ASCII characters.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
} as const;

function completeOperation({ [THROWS_EXTENSION]: throws = [], ...operation }: Operation): Operation {
  const isDeprecated = operation[SUNSET_EXTENSION] !== undefined;
  const errors = [
    ...SHARED_ERRORS.everyOperation,
    ...(operation.requestBody ? SHARED_ERRORS.withBody : []),
    ...(isDeprecated ? SHARED_ERRORS.deprecated : []),
    ...throws.map(publicError),
  ];
  const responses = { ...operation.responses, ...errorResponses(errors) } as Responses;
  for (const response of Object.values(responses)) {
    if (!response || '$ref' in response) continue;
    response.headers = { ...REQUEST_ID_HEADER, ...response.headers, ...(isDeprecated && DEPRECATION_HEADERS) };
  }
  return { ...operation, parameters: [...(operation.parameters ?? []), REQUEST_ID_PARAMETER], responses };
}

/** One response per status, with an example body per error code. */
function errorResponses(errors: readonly ErrorBody[]): Responses {
  const statuses = [...new Set(errors.map(({ status }) => status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = errors.filter((error) => error.status === status);
      return [
        String(status),
        {
          description: ofStatus.map(({ message }) => message).join(' Or: '),
          headers: HEADERS_OF_STATUS[status] ?? {},
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Error' },
              examples: Object.fromEntries(ofStatus.map((error) => [error.code, { value: error }])),
            },
          },
        },
      ];
    }),
  );
}
