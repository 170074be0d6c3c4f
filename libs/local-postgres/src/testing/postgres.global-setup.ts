import { startThrowAwayPostgres } from './throw-away-postgres.js';

/** One server for all integration specs of a run, unless TEST_POSTGRES_URL names one. Vitest calls it only when there are such specs. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['TEST_POSTGRES_URL']) return undefined;
  const server = await startThrowAwayPostgres();
  process.env['TEST_POSTGRES_URL'] = server.url;
  return async () => {
    delete process.env['TEST_POSTGRES_URL'];
    await server.stop();
  };
}
