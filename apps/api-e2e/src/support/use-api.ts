import { afterAll, beforeAll } from '@jest/globals';
import { Api } from './api.js';
import { ALL_PETS, insertKey } from './keys.js';
import { createStoreDatabase, type Environment, Service } from './service.js';

const { API_KEY, BASE_URL } = process.env;

let shared: Api | undefined;

/** Returns a client for the deployment at BASE_URL, or for a service that all parts of this spec file share. */
export function useApi(): Api {
  return (shared ??= openApi());
}

function openApi(): Api {
  if (BASE_URL === undefined && API_KEY === undefined) return useOwnService().api;
  const api = new Api();
  beforeAll(() => {
    if (BASE_URL === undefined) throw new Error('API_KEY is set, but BASE_URL is not');
    if (API_KEY === undefined) throw new Error('BASE_URL needs API_KEY, with the scopes pets:read and pets:write');
    api.open({ baseUrl: BASE_URL, key: API_KEY });
  });
  afterAll(() => api.close());
  return api;
}

export interface OwnService {
  readonly api: Api;
  /** Set in `beforeAll`. */
  readonly databaseUrl: string;
}

/** Starts a service for this spec file, with an empty database and a key with these scopes. Ignores BASE_URL. */
export function useOwnService(scopes: readonly string[] = ALL_PETS, environment: Environment = {}): OwnService {
  const api = new Api();
  const own = { api } as { -readonly [Name in keyof OwnService]: OwnService[Name] };
  let stop = (): Promise<void> => Promise.resolve();
  beforeAll(async () => {
    const database = await createStoreDatabase();
    const service = await Service.start(database.url, environment);
    stop = async () => {
      api.close();
      await service.stop();
      await database.drop();
    };
    own.databaseUrl = database.url;
    api.open({ baseUrl: service.url, key: (await insertKey(database.url, 'suite', scopes)).key });
  });
  afterAll(() => stop());
  return own;
}
