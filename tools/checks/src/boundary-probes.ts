/** A violation of an import rule, and its legal counterpart. */
export interface Probe {
  /** Part of the rule's message. */
  readonly message: string;
  readonly rule: string;
  /** The path under which both are linted. */
  readonly file: string;
  readonly forbidden: string;
  readonly legal: string;
}

export const BOUNDARIES = '@nx/enforce-module-boundaries';
export const IMPORTS = 'no-restricted-imports';
export const SYNTAX = 'no-restricted-syntax';
export const GLOBALS = 'no-restricted-globals';

const from = (module: string) => `export * from '${module}';\n`;
const project = (name: string) => from(`@animal-store/${name}`);
const dynamically = (module: string) => `export const load = () => import('${module}');\n`;
const testOf = (call: string) => `import { it } from '@jest/globals';\n${call}('does', () => undefined);\n`;
const usesHeader = (prefix: string, name: string) =>
  `import type { FastifyReply } from 'fastify';\n` +
  `export const probe = (reply: FastifyReply): unknown => reply.${prefix === '' ? 'header' : `${prefix}Header`}('${name}');\n`;
const decoratesWith = (name: string) => `import { Header } from '@nestjs/common';\nexport const probe = Header('${name}', 'no-store');\n`;

/** Returns a probe of a row in the table of layers. Its message names the layer. */
const layer = (name: string, file: string, forbidden: string, legal: string): Probe => ({
  message: `"layer:${name}"`,
  rule: BOUNDARIES,
  file,
  forbidden,
  legal,
});

export const PROBES: readonly Probe[] = [
  layer('kernel', 'libs/kernel/src/probe.ts', project('database'), from('./clock.js')),
  layer('contract', 'libs/pets/contract/src/probe.ts', project('pets-domain'), project('kernel')),
  layer('http-kit', 'libs/http-kit/src/probe.ts', project('database'), project('kernel')),
  layer('platform', 'libs/database/src/probe.ts', project('http-kit'), project('kernel')),
  layer('local', 'libs/local-postgres/src/probe.ts', project('database'), project('kernel')),
  layer('client', 'libs/client/src/probe.ts', project('kernel'), from('./page.js')),
  layer('domain', 'libs/pets/domain/src/probe.ts', project('pets-application'), project('kernel')),
  layer('domain', 'libs/pets/domain/src/probe.ts', project('pets-contract'), project('kernel')),
  layer('application', 'libs/pets/application/src/probe.ts', project('pets-infrastructure'), project('pets-domain')),
  layer('infrastructure', 'libs/pets/infrastructure/src/probe.ts', project('pets-http'), project('database')),
  layer('http', 'libs/pets/http/src/probe.ts', project('pets-infrastructure'), project('http-kit')),
  layer('testing', 'libs/pets/testing/src/probe.ts', project('pets-application'), project('pets-domain')),
  layer('test-kit', 'libs/test-kit/src/probe.ts', project('http-kit'), project('database')),
  layer('app', 'apps/api/src/probe.ts', project('local-postgres'), project('pets-http')),
  layer('e2e', 'apps/api-e2e/src/probe.ts', project('pets-http'), project('local-postgres/testing')),
  layer('e2e', 'apps/api-e2e/src/probe.ts', project('kernel'), project('client')),
  layer('e2e', 'apps/api-e2e/src/probe.ts', project('database'), project('test-kit/service-process')),
  layer('app', 'apps/api/src/probe.ts', project('client'), project('kernel')),
  layer('http', 'libs/pets/http/src/probe.ts', project('client'), project('http-kit')),

  layer('platform', 'libs/database/src/probe.spec.ts', project('http-kit'), project('local-postgres/testing')),
  layer('application', 'libs/pets/application/src/probe.spec.ts', project('pets-infrastructure'), project('pets-testing')),
  layer('infrastructure', 'libs/pets/infrastructure/src/probe.spec.ts', project('pets-http'), project('local-postgres/testing')),
  layer('infrastructure', 'libs/pets/infrastructure/src/probe.ts', project('test-kit'), project('database')),
  layer('http', 'libs/pets/http/src/probe.spec.ts', project('test-kit'), project('pets-testing')),
  layer('http', 'libs/pets/http/src/probe.spec.ts', project('pets-infrastructure'), project('pets-testing')),
  layer('app', 'apps/api/src/probe.spec.ts', project('api-e2e'), project('pets-testing')),
  layer('app', 'apps/api/src/http/testing/probe.ts', project('api-e2e'), project('local-postgres/testing')),
  layer('http', 'libs/pets/http/src/probe.module.ts', project('database'), project('pets-infrastructure')),
  layer('app', 'apps/cli/src/probe.ts', project('pets-testing'), dynamically('@animal-store/local-postgres')),
  layer('app', 'apps/api/src/probe.ts', project('cli'), project('kernel')),
  layer('app', 'examples/visits/app/src/probe.ts', project('client'), project('api/serve')),

  layer('application', 'libs/pets/application/src/probe.ts', project('pets-testing'), project('kernel')),
  layer('infrastructure', 'libs/pets/infrastructure/src/probe.ts', project('pets-testing'), project('pets-application')),
  layer('infrastructure', 'libs/pets/infrastructure/src/probe.ts', project('local-postgres/testing'), project('pets-domain')),
  layer('http', 'libs/pets/http/src/probe.ts', project('pets-testing'), project('pets-application')),
  layer('app', 'apps/api/src/probe.ts', project('pets-testing'), project('pets-infrastructure')),
  layer('app', 'apps/api/src/probe.ts', dynamically('@animal-store/local-postgres'), dynamically('@animal-store/database')),
  layer('domain', 'libs/access/domain/src/probe.ts', "export type * from '@animal-store/database';\n", project('kernel')),

  {
    message: '"scope:platform"',
    rule: BOUNDARIES,
    file: 'libs/database/src/probe.ts',
    forbidden: project('pets-domain'),
    legal: project('kernel'),
  },
  {
    message: '"scope:apps"',
    rule: BOUNDARIES,
    file: 'apps/api/src/probe.ts',
    forbidden: project('start'),
    legal: project('access-domain'),
  },

  {
    message: 'relative or absolute path',
    rule: BOUNDARIES,
    file: 'libs/pets/application/src/probe.ts',
    forbidden: from('../../domain/src/pet.js'),
    legal: project('pets-domain'),
  },
  {
    message: 'Projects should use relative imports',
    rule: BOUNDARIES,
    file: 'libs/pets/domain/src/probe.ts',
    forbidden: project('pets-domain'),
    legal: from('./pet.js'),
  },
  {
    message: 'Transitive or unresolvable dependencies',
    rule: BOUNDARIES,
    file: 'apps/api/src/probe.ts',
    forbidden: from('avvio'),
    legal: from('fastify'),
  },
  {
    message: 'Import the file itself',
    rule: IMPORTS,
    file: 'libs/pets/http/src/probe.ts',
    forbidden: from('./index.js'),
    legal: from('./pets.controller.js'),
  },
  {
    message: 'Only specs and test support may import test support',
    rule: IMPORTS,
    file: 'apps/api/src/probe.ts',
    forbidden: from('./testing/probe.js'),
    legal: from('./create-app.js'),
  },
  inFolder('observability', '../errors/http-errors.js', './logger.js'),
  inFolder('errors', '../rate-limit/rate-limits.js', '../observability/logger.js'),
  inFolder('rate-limit', '../http/cors.js', '../observability/logger.js'),
  inFolder('http', '../validation/validation.pipe.js', '../rate-limit/rate-limits.js'),
  inFolder('validation', '../authentication/authentication.guard.js', '../http/request-body.js'),
  inFolder('authentication', '../reference/docs.controller.js', '../validation/validation.pipe.js'),
  inFolder('reference', '../process/config.js', '../http/http-server.js'),
  inFolder('process', '../contexts/job-runner.js', '../reference/docs.controller.js'),
  inFolder('contexts', '../create-app.js', '../process/config.js'),
  inRoom('connection', '../statements/table.js', '../persistence.js'),
  inRoom('statements', '../replicas/replicas.js', '../connection/statement.js'),
  inRoom('replicas', '../database.js', '../statements/batcher.js'),
  inRoom('batching', '../migrations/migrations.js', '../database.js'),
  inRoom('migrations', '../events/event-log.js', '../batching/idempotency-key.entity.js'),
  inRoom('events', '../jobs/job-runs.js', '../statements/publication.js'),
  inRoom('jobs', '../database-connection.js', '../database.js'),
  inRoom('database.ts', './batching/batched-repository.js', './replicas/replicas.js'),
  inRoom('persistence.ts', './connection/statement.js', '@animal-store/kernel'),
  {
    message: 'to DATABASE_FOLDERS',
    rule: IMPORTS,
    file: 'libs/database/src/planted/probe.ts',
    forbidden: from('../persistence.js'),
    legal: from('./probe-too.js'),
  },
  {
    message: 'to API_FOLDERS',
    rule: IMPORTS,
    file: 'apps/api/src/planted/probe.ts',
    forbidden: from('../errors/http-errors.js'),
    legal: from('./probe-too.js'),
  },
  {
    message: 'Dynamic imports in such a folder',
    rule: SYNTAX,
    file: 'apps/api/src/http/probe.ts',
    forbidden: dynamically('../reference/docs.controller.js'),
    legal: dynamically('./connection.js'),
  },
  {
    message: 'Import it dynamically',
    rule: IMPORTS,
    file: 'apps/cli/src/probe.ts',
    forbidden: project('local-postgres'),
    legal: "export type * from '@animal-store/local-postgres';\n",
  },
  ...[
    'libs/kernel',
    'libs/client',
    'libs/pets/contract',
    'libs/pets/domain',
    'libs/pets/application',
    'libs/access/domain',
    'libs/access/application',
    'libs/planted/domain',
  ].flatMap((root) => [
    purity(`${root}/src/probe.ts`, 'typeorm', './probe-too.js'),
    purity(`${root}/src/probe.spec.ts`, 'node:fs', '@jest/globals'),
  ]),
  ...['@nestjs/common', 'fs', 'fs/promises', 'node:fs'].map((name) => purity('libs/pets/domain/src/probe.ts', name, './probe-too.js')),
  purity('libs/pets/application/src/probe.spec.ts', 'jest', 'fast-check'),
  ...[
    'libs/kernel/src/probe.ts',
    'libs/client/src/probe.ts',
    'libs/pets/application/src/probe.ts',
    'libs/access/domain/src/probe.spec.ts',
  ].map((file) => ({
    message: 'must not use dynamic imports',
    rule: SYNTAX,
    file,
    forbidden: dynamically('node:fs'),
    legal: from('./probe-too.js'),
  })),
  ...['process', 'Buffer'].map((name) => ({
    message: 'must not use Node.js globals',
    rule: GLOBALS,
    file: 'libs/pets/domain/src/probe.ts',
    forbidden: `export const probe = ${name};\n`,
    legal: `export const probe = URL;\n`,
  })),
  ...['libs/http-kit/src/probe.ts', 'apps/api/src/http/probe.ts'].flatMap((file) =>
    ['get', 'has', 'remove', ''].map((prefix) => ({
      message: 'Header names are written in lower case.',
      rule: SYNTAX,
      file,
      forbidden: usesHeader(prefix, 'Link'),
      legal: usesHeader(prefix, 'link'),
    })),
  ),
  {
    message: 'Header names are written in lower case.',
    rule: SYNTAX,
    file: 'libs/http-kit/src/probe.ts',
    forbidden: decoratesWith('Cache-Control'),
    legal: decoratesWith('cache-control'),
  },
  ...['libs/database/src/probe.spec.ts', 'libs/pets/domain/src/probe.spec.ts', 'libs/pets/testing/src/probe.ts'].map((file, index) => ({
    message: 'Tests must not be focused',
    rule: SYNTAX,
    file,
    forbidden: testOf(['it.only', 'it.skip', 'it.todo'][index] ?? ''),
    legal: testOf('it'),
  })),
];

/** Returns a probe of the imports in a folder of the API. The rule names the folder. */
function inFolder(folder: string, forbidden: string, legal: string): Probe {
  return {
    message: `In the API, ${folder} may only import`,
    rule: IMPORTS,
    file: `apps/api/src/${folder}/probe.ts`,
    forbidden: from(forbidden),
    legal: from(legal),
  };
}

/** Returns a probe of the imports in a room of the database library, or in a file that has a place between the rooms. */
function inRoom(room: string, forbidden: string, legal: string): Probe {
  return {
    message: `In the database library, ${room} may only import`,
    rule: IMPORTS,
    file: `libs/database/src/${room.endsWith('.ts') ? room : `${room}/probe.ts`}`,
    forbidden: from(forbidden),
    legal: from(legal),
  };
}

function purity(file: string, forbidden: string, legal: string): Probe {
  return {
    message: 'must not import npm packages or Node.js modules',
    rule: IMPORTS,
    file,
    forbidden: from(forbidden),
    legal: from(legal),
  };
}
