import { apiCompare } from 'api-smart-diff';

export interface OpenApiDocument {
  readonly servers?: readonly { readonly url: string }[];
}

/** `v1`: what every path of the document begins with. */
export function versionPrefix({ servers = [] }: OpenApiDocument): string {
  const prefixes = new Set(servers.map(({ url }) => url.split('/').at(-1) ?? ''));
  const [prefix = '', ...others] = prefixes;
  if (!/^v\d+$/.test(prefix) || others.length > 0)
    throw new Error(`the servers of an OpenAPI document end in one version, not in ${[...prefixes].join()}`);
  return prefix;
}

/** Where each change breaks somebody, though the library calls some of them harmless, such as another type in an answer. */
const ALWAYS_BREAKING = ['type', 'format', 'additionalProperties', 'operationId', 'security', 'securitySchemes'];
const NEVER_BREAKING = ['description', 'summary', 'example', 'examples', 'bearerFormat', 'deprecated'];
/** Schemas count where operations use them, which is where the library compares them too. */
const COMPARED = [['paths'], ['security'], ['components', 'securitySchemes']];

/** What of a newer document breaks clients of an older one, as `paths./pets.get remove`. */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const { diffs } = apiCompare(before, after);
  return diffs
    .filter(({ path }) => COMPARED.some((start) => start.every((key, index) => path[index] === key)))
    .filter(({ path, type, after: value }) => {
      if (keywords(path).some((key) => NEVER_BREAKING.includes(key))) return false;
      // The library judges the headers of a response like those of a request.
      if (path.at(-1) === 'required' && path.at(-3) === 'headers') return value !== true;
      const mandatory = path.at(-1) === 'required' && value === true;
      return type === 'breaking' || type === 'unclassified' || mandatory || keywords(path).some((key) => ALWAYS_BREAKING.includes(key));
    })
    .map(({ path, action }) => `${path.join('.')} ${action}`);
}

/** The keys of a path without names that the document gives itself: those of members, headers and operations. */
function keywords(path: readonly PropertyKey[]): string[] {
  return path.map(String).filter((_, index) => !['properties', 'headers', 'paths', 'responses'].includes(String(path[index - 1])));
}
