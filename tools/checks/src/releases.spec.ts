import { contexts } from '@animal-store/api/contexts';
import { describe, expect, it } from '@jest/globals';
import {
  breakingChanges,
  COMMIT_OF_RELEASE,
  documentsByPrefix,
  hashOf,
  migrationProblems,
  migrationFiles,
  type MigrationHashes,
  MIGRATIONS_OF_RELEASE,
  type OpenApiDocument,
  openApiFiles,
  releasedDocuments,
  RELEASES,
  releases,
  STATEMENTS_OF_RELEASE,
  timestampOf,
  versionPrefix,
} from './releases.js';
import { readText, workspaceFiles } from './workspace.js';

const files = migrationFiles();
const today = Object.fromEntries(files.map((file) => [file, hashOf(file)]));

describe('migrations', () => {
  it.each(releases())('of release %s are unchanged, and newer ones come later', (version) => {
    const released = JSON.parse(readText(`${RELEASES}/${version}/${MIGRATIONS_OF_RELEASE}`)) as MigrationHashes;
    expect(Object.keys(released).length).toBeGreaterThan(0);
    expect(migrationProblems(released, today)).toEqual([]);
  });

  it.each(releases())('release %s has recorded SQL statements, for the tests of a rollback (ADR 13)', (version) => {
    expect(workspaceFiles()).toContain(`${RELEASES}/${version}/${STATEMENTS_OF_RELEASE}`);
  });

  it.each(releases())('release %s has recorded its commit, for the suite rolling-upgrade', (version) => {
    expect(readText(`${RELEASES}/${version}/${COMMIT_OF_RELEASE}`)).toMatch(/^[0-9a-f]{40}\n$/);
  });

  it('are registered under the time of their file name, ordered by time', () => {
    const times = contexts.map(({ persistence }) => persistence.migrations.map(({ name }) => Number(/\d+$/.exec(name)?.[0])));
    for (const ofContext of times) expect(ofContext).toEqual(ofContext.toSorted());
    expect(times.flat().sort()).toEqual(files.map(timestampOf));
  });
});

describe('migrationProblems', () => {
  const first = 'libs/pets/infrastructure/src/migrations/1000-first.ts';
  const second = 'libs/pets/infrastructure/src/migrations/2000-second.ts';
  const released = { [first]: 'a', [second]: 'b' };

  it.each([
    ['has changed', { ...released, [first]: 'c' }, `${first} was released and has changed: restore it and write a new migration`],
    ['is missing', { [first]: 'a' }, `${second} was released and is missing: restore it`],
    [
      'is newer than an unreleased one',
      { ...released, 'libs/pets/infrastructure/src/migrations/1500-between.ts': 'c' },
      'libs/pets/infrastructure/src/migrations/1500-between.ts is older than a released migration: give it a later timestamp',
    ],
  ])('reports a released migration that %s', (_, now, problem) => {
    expect(migrationProblems(released, now)).toEqual([problem]);
  });

  it('reports nothing if a new migration follows, or a new context has its first one', () => {
    const added = {
      'libs/pets/infrastructure/src/migrations/3000-third.ts': 'c',
      'libs/orders/infrastructure/src/migrations/500-first.ts': 'd',
    };
    expect(migrationProblems(released, { ...released, ...added })).toEqual([]);
  });
});

it('the version of the API is the newest release or later', () => {
  const { version } = JSON.parse(readText('apps/api/package.json')) as { version: string };
  expect([...releases(), version].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1)).toBe(version);
});

describe('the OpenAPI documents', () => {
  it('have a release', () => {
    expect([...releasedDocuments().keys()]).toContain('v1');
  });

  it.each([...releasedDocuments()])(
    'of %s break no client of the last release (a breaking change needs a new version prefix)',
    (prefix, document) => {
      const current = documentsByPrefix(openApiFiles());
      expect([...current.keys()]).toContain(prefix);
      expect(breakingChanges(document, current.get(prefix) ?? {})).toEqual([]);
    },
  );
});

/** The parts of the document that the tests change. */
interface Document extends OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> };
  security?: object[];
}
interface Operation {
  operationId: string;
  deprecated?: boolean;
  security?: object[];
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, object> };
  responses: Record<string, { headers: Record<string, Header>; content: Record<string, object> }>;
}
interface Header {
  required?: boolean;
  schema: Schema;
}
interface Schema {
  type?: string | string[];
  format?: string;
  properties: Record<string, Schema>;
  required: string[];
  description?: string;
  additionalProperties?: boolean;
}

const breakingChangesAfter = (change: (document: Document) => void) => {
  const before = JSON.parse(readText('docs/releases/1.0.0/openapi.json')) as Document;
  const after = structuredClone(before);
  change(after);
  return breakingChanges(before, after);
};
const operation = ({ paths }: Document, method: string, path = '/pets') => paths[path]?.[method] ?? fail(`${method} ${path}`);
const schema = ({ components }: Document, name: string) => components.schemas[name] ?? fail(name);
const member = (document: Document, name: string, schemaName: string) =>
  schema(document, schemaName).properties[name] ?? fail(`${name} of ${schemaName}`);
const responseOf = (document: Document, method: string, status: string, path?: string) =>
  operation(document, method, path).responses[status] ?? fail(status);
const headerOf = (document: Document, name: string) => responseOf(document, 'get', '200').headers[name] ?? fail(name);
const parameter = (document: Document, name: string) =>
  operation(document, 'get').parameters.find((candidate) => candidate.name === name) ?? fail(name);
function fail(what: string): never {
  throw new Error(`the document has no ${what}`);
}
const TEXT = { type: 'string' } as Schema;

const BREAKING: readonly (readonly [string, (document: Document) => void])[] = [
  ['an operation has another id', (document) => (operation(document, 'get').operationId = 'findPets')],
  ['a member of a response may be absent', (document) => schema(document, 'Pet').required.pop()],
  ['a member of a response has another type', (document) => (member(document, 'name', 'Pet').type = 'integer')],
  ['a member of a response may be null', (document) => (member(document, 'name', 'Pet').type = ['string', 'null'])],
  ['a member of a response has another format', (document) => (member(document, 'id', 'Pet').format = 'int32')],
  ['a header of a response may be absent', (document) => (headerOf(document, 'ETag').required = false)],
  [
    'a body has a new required member',
    (document) => {
      schema(document, 'NewPet').properties['colour'] = TEXT;
      schema(document, 'NewPet').required.push('colour');
    },
  ],
  ['a member of a body has become required', (document) => schema(document, 'NewPet').required.push('status')],
  ['a member of a body has another type', (document) => (member(document, 'categoryId', 'NewPet').type = 'string')],
  ['a body rejects additional members', (document) => (schema(document, 'NewPet').additionalProperties = false)],
  ['a parameter has become required', (document) => (parameter(document, 'status').required = true)],
  [
    'another authentication is required',
    ({ components }) => (components.securitySchemes['apiKey'] = { type: 'apiKey', in: 'query', name: 'key' }),
  ],
  ['an operation requires more scopes', (document) => (operation(document, 'get').security = [{ apiKey: ['admin'] }])],
];

const COMPATIBLE: readonly (readonly [string, (document: Document) => void])[] = [
  ['nothing changes', () => undefined],
  [
    'a response has a new member',
    (document) => {
      schema(document, 'Pet').properties['colour'] = TEXT;
      schema(document, 'Pet').required.push('colour');
    },
  ],
  [
    'there is a new optional parameter',
    (document) => operation(document, 'get').parameters.push({ name: 'store', in: 'query', required: false, schema: TEXT }),
  ],
  ['a header of a response becomes required', (document) => (headerOf(document, 'Link').required = true)],
  ['an operation is deprecated', (document) => (operation(document, 'get').deprecated = true)],
  ['a description changes', (document) => (member(document, 'name', 'Pet').description = 'Name of the animal.')],
];

describe('a client breaks when', () => {
  it.each(BREAKING)('%s', (_, change) => {
    expect(breakingChangesAfter(change)).not.toEqual([]);
  });
});

describe('no client breaks when', () => {
  it.each(COMPATIBLE)('%s', (_, change) => {
    expect(breakingChangesAfter(change)).toEqual([]);
  });
});

it('the version prefix comes from the servers of the document', () => {
  expect(versionPrefix({ servers: [{ url: '/v2' }, { url: 'https://staging.example/store/v2' }] })).toBe('v2');
  expect(() => versionPrefix({ servers: [{ url: '/v1' }, { url: '/v2' }] })).toThrow('same version prefix');
});
