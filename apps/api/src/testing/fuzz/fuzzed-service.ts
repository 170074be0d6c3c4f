import { openAccess } from '@animal-store/access-infrastructure';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { BuiltService } from '../built-service.js';
import { startTestApp } from '../test-app.js';
import type { FuzzTarget } from './conversation.js';
import { SMUGGLED_NAME } from './hostile-sockets.js';
import { createLogger } from '../../observability/logger.js';

/** A busy machine is not what is looked for. */
const ENVIRONMENT = {
  RATE_LIMIT: '0',
  DRAIN_SECONDS: '0',
  MAX_EVENT_LOOP_LAG_MS: '60000',
  DATABASE_CONNECT_TIMEOUT_MS: '60000',
  DATABASE_STATEMENT_TIMEOUT_MS: '60000',
};
const ERROR = 50;

/** A service to send hostile requests to, and what it has to show after them. */
export interface FuzzedService {
  readonly target: FuzzTarget;
  /** What it has logged that is worse than a request. */
  readonly complaints: readonly string[];
  /** How many requests were carried out that were no requests. */
  readonly countSmuggled: () => Promise<number>;
  stop(): Promise<void>;
}

export interface BuiltFuzzedService extends FuzzedService {
  /** Resident bytes of its process. */
  memory(): Promise<number>;
}

/** In this process. */
export async function startInProcess(): Promise<FuzzedService> {
  const complaints: string[] = [];
  const write = (line: string) => {
    if ((JSON.parse(line) as { level: number }).level >= ERROR) complaints.push(line);
  };
  const logger = createLogger('info', { write });
  const service = await startTestApp({ env: ENVIRONMENT, logger });
  const records = await openRecords((service.app.get(DataSource).options as { url: string }).url);
  return {
    target: {
      port: Number(new URL(service.url).port),
      key: await service.createKey('pets:read', 'pets:write'),
      readOnlyKey: await service.createKey('pets:read'),
    },
    complaints,
    countSmuggled: () => records.countSmuggled(),
    stop: async () => {
      await records.close();
      await service.close();
    },
  };
}

/** The built service, in a process of its own. */
export async function startBuilt(): Promise<BuiltFuzzedService> {
  const database = await createTestDatabase();
  const service = await BuiltService.start({ ...ENVIRONMENT, DATABASE_URL: database.url });
  const access = await openAccess(database.url);
  const createKey = async (...scopes: string[]) =>
    (await access.createApiKey.execute({ clientName: 'fuzz', environment: 'test', scopes })).secret;
  const [key, readOnlyKey] = [await createKey('pets:read', 'pets:write'), await createKey('pets:read')];
  await access.close();
  const records = await openRecords(database.url);
  return {
    target: { port: service.port, key, readOnlyKey },
    complaints: service.complaints,
    countSmuggled: () => records.countSmuggled(),
    memory: () => service.memory(),
    stop: async () => {
      await records.close();
      await service.stop();
      await database.drop();
    },
  };
}

/** A connection of its own, past the service. */
async function openRecords(databaseUrl: string): Promise<{ countSmuggled(): Promise<number>; close(): Promise<void> }> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    countSmuggled: async () => (await client.query('SELECT 1 FROM pets.pets WHERE name = $1', [SMUGGLED_NAME])).rows.length,
    close: () => client.end(),
  };
}
