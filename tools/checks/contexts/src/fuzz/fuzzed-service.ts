import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { programPath, ServiceProcess } from '@animal-store/test-kit/service-process';
import { Client } from 'pg';
import { createLogger, startTestApp } from '@animal-store/api/testing/test-app';
import type { FuzzTarget } from './send-and-check.js';
import { SMUGGLED_NAME } from './hostile-sockets.js';

/** Prevents errors because of a busy machine. */
const ENVIRONMENT = {
  RATE_LIMIT: '0',
  DRAIN_SECONDS: '0',
  MAX_EVENT_LOOP_LAG_MS: '60000',
  DATABASE_CONNECT_TIMEOUT_MS: '60000',
  DATABASE_STATEMENT_TIMEOUT_MS: '60000',
};
const ERROR = 50;

/** A service to fuzz, with its errors and the number of smuggled requests. */
export interface FuzzedService {
  readonly target: FuzzTarget;
  /** Logged errors. From the built service, also warnings and all lines on stderr. */
  readonly problems: readonly string[];
  /** Returns how many smuggled requests were executed. */
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
  const logger = createLogger('info', { write });
  const service = await startTestApp({ env: ENVIRONMENT, logger });
  const records = await openRecords(service.databaseUrl);
  return {
    target: {
      port: Number(new URL(service.url).port),
      key: await service.createKey('pets:read', 'pets:write'),
      readOnlyKey: await service.createKey('pets:read'),
    },
    problems,
    countSmuggled: () => records.countSmuggled(),
    stop: async () => {
      await records.close();
      await service.close();
    },
  };
}

/** Starts the built service in a separate process. */
export async function startBuilt(): Promise<BuiltFuzzedService> {
  const database = await createTestDatabase();
  const command = [process.execPath, programPath('api', 'dist')];
  const service = await ServiceProcess.start({ ...ENVIRONMENT, DATABASE_URL: database.url }, { command });
  const access = await connectAccessUseCases(database.url);
  const createKey = async (...scopes: string[]) =>
    (await access.manageApiKeys.create({ clientName: 'fuzz', environment: 'test', scopes })).secret;
  const [key, readOnlyKey] = [await createKey('pets:read', 'pets:write'), await createKey('pets:read')];
  await access.close();
  const records = await openRecords(database.url);
  return {
    target: { port: service.port, key, readOnlyKey },
    get problems() {
      return service.problems;
    },
    countSmuggled: () => records.countSmuggled(),
    memory: () => service.memory,
    stop: async () => {
      await records.close();
      await service.stop();
      await database.drop();
    },
  };
}

/** Opens a separate connection to the database. */
async function openRecords(databaseUrl: string): Promise<{ countSmuggled(): Promise<number>; close(): Promise<void> }> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    countSmuggled: async () => (await client.query('SELECT 1 FROM pets.pets WHERE name = $1', [SMUGGLED_NAME])).rows.length,
    close: () => client.end(),
  };
}
