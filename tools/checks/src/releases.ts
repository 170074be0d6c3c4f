import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { apiCompare } from 'api-smart-diff';
import { readText, workspaceFiles } from './workspace.js';

/** The folder of the recorded releases: their OpenAPI documents, and the hashes of their migrations. */
export const RELEASES = 'docs/releases';
export const MIGRATIONS_OF_RELEASE = 'migrations.json';
/** The SQL statements of a release, for the tests of a rollback (ADR 13). */
export const STATEMENTS_OF_RELEASE = 'statements.json';
/** The commit from which the suite `rolling-upgrade` builds a release. */
export const COMMIT_OF_RELEASE = 'commit.txt';

export interface OpenApiDocument {
  readonly servers?: readonly { readonly url: string }[];
}

export type MigrationHashes = Readonly<Record<string, string>>;

/** Returns the versions of the releases, oldest first. */
export function releases(): string[] {
  const versions = workspaceFiles().flatMap((file) => /^docs\/releases\/(\d+\.\d+\.\d+)\//.exec(file)?.[1] ?? []);
  return [...new Set(versions)].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

/** Returns the current OpenAPI documents by file, one for each version prefix. */
export function openApiFiles(): string[] {
  return workspaceFiles().filter((file) => /^docs\/openapi(?:\.v\d+)?\.json$/.test(file));
}

/** Returns the newest released document of each version prefix. */
export function releasedDocuments(): Map<string, OpenApiDocument> {
  const files = releases().flatMap((version) => workspaceFiles().filter((file) => file.startsWith(`${RELEASES}/${version}/openapi`)));
  return documentsByPrefix(files);
}

export function documentsByPrefix(files: readonly string[]): Map<string, OpenApiDocument> {
  const documents = files.map((file) => JSON.parse(readText(file)) as OpenApiDocument);
  return new Map(documents.map((document) => [versionPrefix(document), document]));
}

/** Returns the migrations of all contexts and of the platform, in the order in which they are applied. */
export function migrationFiles(): string[] {
  return workspaceFiles()
    .filter((file) => /^libs\/(?:[^/]+\/infrastructure|database)\/src\/[^/]+\/\d{13}-[^/]+\.ts$/.test(file))
    .sort((one, other) => basename(one).localeCompare(basename(other), 'en', { numeric: true }));
}

/** Returns the hash of a migration without its doc comments, which may be corrected after the release. */
export function hashOf(file: string): string {
  return createHash('sha256')
    .update(readText(file).replace(/^ *\/\*\*[^]*?\*\/\n/gm, ''))
    .digest('hex');
}

/**
 * Compares the current migrations with the released ones. Returns a message for each released migration that is missing or changed, and for
 * each new one that is not later than the released migrations of its context.
 */
export function migrationProblems(released: MigrationHashes, today: MigrationHashes): string[] {
  const newest = (context: string) =>
    Object.keys(released)
      .filter((file) => contextOf(file) === context)
      .at(-1) ?? '';
  return [
    ...Object.keys(released)
      .filter((file) => !(file in today))
      .map((file) => `${file} was released and is missing: restore it`),
    ...Object.entries(released)
      .filter(([file, hash]) => file in today && today[file] !== hash)
      .map(([file]) => `${file} was released and has changed: restore it and write a new migration`),
    ...Object.keys(today)
      .filter((file) => !(file in released) && timestampOf(file) <= timestampOf(newest(contextOf(file))))
      .map((file) => `${file} is older than a released migration: give it a later timestamp`),
  ];
}

const contextOf = (file: string) => file.split('/')[1] ?? '';
export const timestampOf = (file: string) => Number(/^\d+/.exec(basename(file))?.[0] ?? 0);

/** Returns the version prefix of the document's paths, such as `v1`. */
export function versionPrefix({ servers = [] }: OpenApiDocument): string {
  const prefixes = new Set(servers.map(({ url }) => url.split('/').at(-1) ?? ''));
  const [prefix = '', ...others] = prefixes;
  if (!/^v\d+$/.test(prefix) || others.length > 0)
    throw new Error(`the servers of an OpenAPI document must end in the same version prefix, such as v1: ${[...prefixes].join(', ')}`);
  return prefix;
}

/** Keywords for which every change is breaking. The library treats some changes as compatible, such as another type in a response. */
const ALWAYS_BREAKING = ['type', 'format', 'additionalProperties', 'operationId', 'security', 'securitySchemes'];
const NEVER_BREAKING = ['description', 'summary', 'example', 'examples', 'bearerFormat', 'deprecated'];
/** The compared parts of the document. Component schemas are compared where operations use them. */
const COMPARED = [['paths'], ['security'], ['components', 'securitySchemes']];

/** Returns the changes that break clients of the older document, such as `paths./pets.get remove`. */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const { diffs } = apiCompare(before, after);
  return diffs
    .filter(({ path }) => COMPARED.some((start) => start.every((key, index) => path[index] === key)))
    .filter(({ path, type, after: value }) => {
      if (keywords(path).some((key) => NEVER_BREAKING.includes(key))) return false;
      // The library treats response headers like request headers.
      if (path.at(-1) === 'required' && path.at(-3) === 'headers') return value !== true;
      const mandatory = path.at(-1) === 'required' && value === true;
      return type === 'breaking' || type === 'unclassified' || mandatory || keywords(path).some((key) => ALWAYS_BREAKING.includes(key));
    })
    .map(({ path, action }) => `${path.join('.')} ${action}`);
}

/** Returns the keys of a difference's path, except those that the document chooses: member names, header names, URL paths and statuses. */
function keywords(path: readonly PropertyKey[]): string[] {
  return path.map(String).filter((_, index) => !['properties', 'headers', 'paths', 'responses'].includes(String(path[index - 1])));
}
