import { join } from 'node:path';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { Client } from 'pg';
import { createLogger, startTestApp } from '@animal-store/api/testing/test-app';
import { ApiDocument } from '../openapi/api-document.js';
import type { FuzzTarget } from './send-and-check.js';

const WORKSPACE = join(import.meta.dirname, '../../../../..');
/** Prevents errors because of a busy machine. */
const ENVIRONMENT = {
  RATE_LIMIT: '0',
  DRAIN_SECONDS: '0',
  MAX_EVENT_LOOP_LAG_MS: '60000',
  DATABASE_CONNECT_TIMEOUT_MS: '60000',
  DATABASE_STATEMENT_TIMEOUT_MS: '60000',
};
const ERROR = 50;

type CreateKey = (...scopes: string[]) => Promise<string>;

/** A service to fuzz, with its errors and the number of smuggled requests. */
export interface FuzzedService {
  readonly target: FuzzTarget;
  readonly url: string;
  /** A key that only bytes contain which are not a request. */
  readonly smuggledKey: string;
  /** Logged errors. From the built service, also warnings and all lines on stderr. */
  readonly problems: readonly string[];
  /** Returns 1 if a smuggled request was processed. */
  readonly countSmuggled: () => Promise<number>;
  stop(): Promise<void>;
}

export interface BuiltFuzzedService extends FuzzedService {
  /** Resident memory of the process in bytes. */
  memory(): number;
}

/** Starts the service in this process. */
export async function startInProcess(): Promise<FuzzedService> {
  const problems: string[] = [];
  const write = (line: string) => {
    if ((JSON.parse(line) as { level: number }).level >= ERROR) problems.push(line);
  };
  const service = await startTestApp({ env: ENVIRONMENT, logger: createLogger('info', { write }) });
  const keys = await createKeys(service.url, (...scopes) => service.createKey(...scopes), service.databaseUrl);
  return {
    ...keys,
    url: service.url,
    problems,
    stop: async () => {
      await keys.stop();
      await service.close();
    },
  };
}

/** Starts a built service in a separate process. */
export async function startBuilt(program: string): Promise<BuiltFuzzedService> {
  const database = await createTestDatabase();
  const command = [process.execPath, join(WORKSPACE, program)];
  const service = await ServiceProcess.start({ ...ENVIRONMENT, DATABASE_URL: database.url }, { command });
  const access = await connectAccessUseCases(database.url);
  const createKey: CreateKey = async (...scopes) =>
    (await access.manageApiKeys.create({ clientName: 'fuzz', environment: 'test', scopes })).secret;
  const keys = await createKeys(service.url, createKey, database.url);
  await access.close();
  return {
    ...keys,
    url: service.url,
    get problems() {
      return service.problems;
    },
    memory: () => service.memory,
    stop: async () => {
      await keys.stop();
      await service.stop();
      await database.drop();
    },
  };
}

/** Creates keys with the scopes of all operations, and opens a separate connection to the database, which records the use of a key. */
async function createKeys(
  url: string,
  createKey: CreateKey,
  databaseUrl: string,
): Promise<Pick<FuzzedService, 'target' | 'smuggledKey' | 'countSmuggled' | 'stop'>> {
  const api = await ApiDocument.of(url);
  const target = {
    port: Number(new URL(url).port),
    key: await createKey(...api.scopes()),
    readOnlyKey: await createKey(...api.scopes('GET')),
  };
  const smuggledKey = await createKey(...api.scopes());
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const used = 'SELECT FROM access.api_keys WHERE starts_with($1, prefix) AND last_used_at IS NOT NULL';
  return {
    target,
    smuggledKey,
    countSmuggled: async () => (await client.query(used, [smuggledKey])).rowCount ?? 0,
    stop: () => client.end(),
  };
}
