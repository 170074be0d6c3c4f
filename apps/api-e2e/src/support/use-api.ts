import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { Api } from './api.js';
import { ALL_PETS, createKey, Service } from './service.js';

const { API_KEY, API_KEY_READ_ONLY, BASE_URL } = process.env;

/** Whether the suite holds a key that may only read: always with a service of its own. */
export const hasReadOnlyKey = (BASE_URL ?? API_KEY) === undefined || API_KEY_READ_ONLY !== undefined;

let shared: Api | undefined;

/** The deployment at BASE_URL, or else a service that all parts of this spec file share. */
export function useApi(): Api {
  return (shared ??= openApi());
}

function openApi(): Api {
  if (BASE_URL === undefined && API_KEY === undefined) return useOwnServiceWithReadOnlyKey();
  const api = new Api();
  beforeAll(() => {
    if (BASE_URL === undefined) throw new Error('API_KEY is set, but BASE_URL is not');
    if (API_KEY === undefined) throw new Error('BASE_URL needs API_KEY, with the scopes pets:read and pets:write');
    api.open({ baseUrl: BASE_URL, key: API_KEY, readOnlyKey: API_KEY_READ_ONLY });
  });
  afterAll(() => api.close());
  return api;
}

export interface OwnService {
  readonly api: Api;
  /** There from `beforeAll` on. */
  readonly databaseUrl: string;
}

/** A service of this file's own, with an empty database and a key of its own with the scopes, whatever BASE_URL says. */
export function useOwnService(scopes: readonly string[] = ALL_PETS): OwnService {
  const api = new Api();
  const own = { api } as { -readonly [Name in keyof OwnService]: OwnService[Name] };
  let stop = (): Promise<void> => Promise.resolve();
  beforeAll(async () => {
    const database = await createTestDatabase();
    const service = await Service.start(database.url);
    stop = async () => {
      api.close();
      await service.stop();
      await database.drop();
    };
    own.databaseUrl = database.url;
    api.open({ baseUrl: service.url, key: (await createKey(database.url, 'suite', scopes)).key });
  });
  afterAll(() => stop());
  return own;
}

function useOwnServiceWithReadOnlyKey(): Api {
  const own = useOwnService();
  beforeAll(async () => {
    const { key } = await createKey(own.databaseUrl, 'suite-read-only', ['pets:read']);
    own.api.open({ ...own.api.target, readOnlyKey: key });
  });
  return own.api;
}
