import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationsOf } from './operations.js';

// Requires Schemathesis: pip install schemathesis
const WORKSPACE = join(import.meta.dirname, '../../../..');
const COMMAND = process.env['SCHEMATHESIS'] ?? 'schemathesis';
/** A busy machine must not count as an overload of the service. */
const ENVIRONMENT = { RATE_LIMIT: '0', DRAIN_SECONDS: '0', MAX_EVENT_LOOP_LAG_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000' };
const CONFIGURATION = join(import.meta.dirname, '../schemathesis.toml');
/** More options, such as `--max-examples 40`. */
const OPTIONS = (process.env['SCHEMATHESIS_OPTIONS'] ?? '').split(' ').filter((option) => option !== '');
const WITHIN_MS = 15 * 60_000;
/** The failures are at the end. */
const MAX_OUTPUT = 8_000;

/** The service with all contexts, and the app of an example with a further one. */
describe.each(['apps/api/dist/main.js', 'examples/visits/app/dist/main.js'])('%s', (program) => {
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    const command = [process.execPath, join(WORKSPACE, program)];
    service = await ServiceProcess.start({ ...ENVIRONMENT, DATABASE_URL: database.url }, { command });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it(
    'responds to generated requests only as its OpenAPI document says, and logs no error',
    async () => {
      const document = `${service.url}/openapi.json`;
      const operations = operationsOf(await (await fetch(document)).text());
      const fileTypes = operations.flatMap(({ bodyTypes }) => bodyTypes).filter((type) => !type.endsWith('json'));
      const scopes = operations.flatMap((operation) => operation.scopes);
      const access = await connectAccessUseCases(database.url);
      const input = { clientName: 'schemathesis', environment: 'test', scopes: [...new Set(scopes)] };
      const { secret } = await access.manageApiKeys.create(input);
      await access.close();
      const environment = { ...process.env, API_KEY: secret, FILE_TYPES: fileTypes.join(), NO_COLOR: '1', TERM: 'dumb' };
      const output = await new Promise<string>((resolve) => {
        execFile(
          COMMAND,
          ['--config-file', CONFIGURATION, 'run', document, ...OPTIONS],
          { cwd: dirname(CONFIGURATION), maxBuffer: 2 ** 26, env: environment },
          (error, stdout, stderr) =>
            resolve(error ? `${error.message.split('\n', 1)[0] ?? ''}\n${stdout.slice(-MAX_OUTPUT)}${stderr}` : ''),
        );
      });
      expect(output).toBe('');
      expect(service.problems).toEqual([]);
    },
    WITHIN_MS,
  );
});
