import { apiCompare } from 'api-smart-diff';

export interface OpenApiDocument {
  readonly servers?: readonly { readonly url: string }[];
}

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
