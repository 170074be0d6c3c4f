import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { type OpenApiDocument, versionPrefix } from './openapi-changes.js';
import { readText, workspaceFiles } from './workspace.js';

/** The folder of the recorded releases: their OpenAPI documents, and the hashes of their migrations. */
export const RELEASES = 'docs/releases';
export const MIGRATIONS_OF_RELEASE = 'migrations.json';
/** The SQL statements of a release, for the tests of a rollback (ADR 13). */
export const STATEMENTS_OF_RELEASE = 'statements.json';
/** The commit from which the suite `rolling-upgrade` builds a release. */
export const COMMIT_OF_RELEASE = 'commit.txt';

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
