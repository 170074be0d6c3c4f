import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationsOf } from './operations.js';

// Requires Schemathesis: pip install schemathesis
const WORKSPACE = join(import.meta.dirname, '../../../..');
const COMMAND = process.env['SCHEMATHESIS'] ?? 'schemathesis';
/** For each operation. */
const EXAMPLES = process.env['EXAMPLES'] ?? '300';
const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
  ...['response_schema_conformance', 'ignored_auth', 'unsupported_method', 'allow_header_conformance'],
];
/** A busy machine must not count as an overload of the service. */
const ENVIRONMENT = { RATE_LIMIT: '0', DRAIN_SECONDS: '0', MAX_EVENT_LOOP_LAG_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000' };
const WITHIN_MS = 15 * 60_000;
/** Schemathesis 4.32 sends integers that it has learnt from responses in headers, and then fails itself. It knows few types of files. */
const hooksFor = (fileTypes: readonly string[]) => `
import schemathesis

@schemathesis.hook
def before_call(context, case, kwargs):
    for name, value in (case.headers or {}).items():
        case.headers[name] = str(value)

for media_type in ${JSON.stringify(fileTypes)}:
    schemathesis.serializer.alias(media_type, "application/octet-stream")
`;
/** The failures are at the end. */
const MAX_OUTPUT = 8_000;

/** The service with all contexts, and the app of an example with a further one. */
describe.each(['apps/api/dist/main.js', 'examples/visits/app/dist/main.js'])('%s', (program) => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'schemathesis-'));
    database = await createTestDatabase();
    const command = [process.execPath, join(WORKSPACE, program)];
    service = await ServiceProcess.start({ ...ENVIRONMENT, DATABASE_URL: database.url }, { command });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  it(
    'responds to generated requests only as its OpenAPI document says, and logs no error',
    async () => {
      const document = `${service.url}/openapi.json`;
      const operations = operationsOf(await (await fetch(document)).text());
      const fileTypes = operations.flatMap(({ bodyTypes }) => bodyTypes).filter((type) => !type.endsWith('json'));
      await writeFile(join(folder, 'hooks.py'), hooksFor(fileTypes));
      const scopes = operations.flatMap((operation) => operation.scopes);
      const access = await connectAccessUseCases(database.url);
      const input = { clientName: 'schemathesis', environment: 'test', scopes: [...new Set(scopes)] };
      const { secret } = await access.manageApiKeys.create(input);
      await access.close();
      const options = ['--checks', CHECKS.join(), '--max-examples', EXAMPLES, '--header', `Authorization: Bearer ${secret}`];
      const output = await new Promise<string>((resolve) => {
        execFile(
          COMMAND,
          ['run', document, ...options],
          { cwd: folder, maxBuffer: 2 ** 26, env: { ...process.env, SCHEMATHESIS_HOOKS: 'hooks', NO_COLOR: '1', TERM: 'dumb' } },
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
