import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectStatus } from './http-response.js';
import type { Api, RequestOptions } from './api.js';
import { expectForbidden, expectUnauthenticated } from './challenges.js';
import { insertKey, unknownKey } from './keys.js';
import type { OwnService } from './use-api.js';

const DOCUMENT = new URL('../../../../docs/openapi.json', import.meta.url);
/** Scopes of the key that lacks the required scope. Used if the context has only one scope. */
const OTHER_SCOPES = ['pets:read'];
const JSON_BODY = { 'content-type': 'application/json' };

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string; readonly tags?: readonly string[] }>>>>;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** Request headers, for example `{ 'if-match': '*' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string;
  /** Required scope. */
  readonly scope: string;
  /** Status of a successful response. */
  readonly success: number;
}

/**
 * Defines the 401 and 403 tests of a context: each operation requires a key with its scope.
 * @param tag of the context in the OpenAPI document
 * @param operations every operation with this tag, by operation id
 */
export function describeAuthorization(tag: string, own: OwnService, operations: Readonly<Record<string, Operation>>): void {
  const { api } = own;
  const scopes = [...new Set(Object.values(operations).map(({ scope }) => scope))];
  /** By scope: a key with only this scope and a key with all other scopes. */
  const keys = new Map<string, { readonly only: string; readonly without: string }>();

  describe(`authorization of ${tag}`, () => {
    beforeAll(async () => {
      const keyOf = async (...chosen: readonly string[]) => `Bearer ${(await insertKey(own.databaseUrl, 'access', chosen)).key}`;
      for (const scope of scopes) {
        const others = scopes.filter((other) => other !== scope);
        keys.set(scope, { only: await keyOf(scope), without: await keyOf(...(others.length > 0 ? others : OTHER_SCOPES)) });
      }
    });

    it('is tested for every operation', () => {
      const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApi;
      const tagged = Object.values(paths).flatMap((item) => Object.values(item).filter(({ tags }) => tags?.includes(tag)));
      expect(tagged.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(operations).sort());
    });

    describe.each(Object.entries(operations))('%s', (_operationId, operation) => {
      it('responds with 401 without a key', async () => {
        expectUnauthenticated(await send(api, operation, null), 'missing_api_key');
      });

      it('responds with 401 to an unknown key', async () => {
        expectUnauthenticated(await send(api, operation, `Bearer ${unknownKey(api.target.key)}`), 'invalid_api_key');
      });

      const authorization = (which: 'only' | 'without'): string => keys.get(operation.scope)?.[which] ?? '';

      it('responds with 403 to a key with every other scope', async () => {
        expectForbidden(await send(api, operation, authorization('without')), operation.scope);
      });

      it('accepts a key with only its scope', async () => {
        const response = await send(api, operation, authorization('only'));
        expectStatus(response, operation.success);
      });
    });
  });
}

function send(api: Api, { method, path, headers, body }: Operation, authorization: string | null): ReturnType<Api['send']> {
  const options: RequestOptions = {
    authorization,
    headers: { ...(body !== undefined && JSON_BODY), ...headers },
    ...(body !== undefined && { body }),
  };
  return api.send(method, path, options);
}
