import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { snakeCase } from '../names.js';
import { expectSuccess, testChanges, WorkspaceCopy } from './workspace-copy.js';

const NX = 'node_modules/nx/dist/bin/nx.js';
const ESLINT = 'node_modules/eslint/bin/eslint.js';
const CONTEXTS = ['orders', 'purchase-orders'] as const;
/** A resource below purchase orders. Without one, the tables of orders have no foreign key, so they are distributed. */
const NESTED = 'delivery-notes';
/** For lint, build and specs of the workspace. */
const TIMEOUT_MS = 1_800_000;
/** Of output in the message of a failed test. */
const MAX_OUTPUT = 20_000;
jest.setTimeout(TIMEOUT_MS);

let copy: WorkspaceCopy;
const pathOf = (path: string) => join(copy.folder, path);
const nx = (...args: readonly string[]) => copy.node(NX, ...args);

/** Replaces what throws in a generated file by these statements, in order. */
function write(path: string, ...statements: readonly string[]): void {
  const text = statements.reduce(
    (before, statement) => {
      const [, found = ''] = /(throw new Error\(.* is not written yet.*\);)/.exec(before) ?? [];
      expect([path, found]).toEqual([path, expect.stringContaining('throw')]);
      return before.replace(found, () => statement);
    },
    readFileSync(pathOf(path), 'utf8'),
  );
  writeFileSync(pathOf(path), text.replaceAll('_queryRunner', 'queryRunner'));
}

/** Replaces a part of a file. Returns a function that restores the file. */
function plant(path: string, part: string, planted: string): () => void {
  const text = readFileSync(pathOf(path), 'utf8');
  expect(text).toContain(part);
  writeFileSync(
    pathOf(path),
    text.replace(part, () => planted),
  );
  return () => writeFileSync(pathOf(path), text);
}

function writeMigration(context: string, name: string): void {
  const folder = `libs/${context}/infrastructure/src/migrations`;
  const [file = ''] = readdirSync(pathOf(folder)).filter((other) => other.endsWith(`-${name}.ts`));
  const table = `${snakeCase(context)}.${snakeCase(context)}`;
  write(`${folder}/${file}`, `await queryRunner.query('ALTER TABLE ${table} ADD COLUMN due_date date');`);
}

/** The http library has no spec: the spec of the routes tests it. */
const expectTestsRan = (output: string, context: string) => {
  for (const folder of [
    ...['domain', 'application', 'infrastructure'].map((layer) => `libs/${context}/${layer}`),
    `apps/api/src/contexts/${context}.integration`,
  ])
    expect([folder, new RegExp(`^PASS ${folder}[/.]`, 'm').test(output)]).toEqual([folder, true]);
};

beforeAll(async () => {
  copy = await WorkspaceCopy.create();
}, TIMEOUT_MS);
afterAll(() => copy.remove());

describe('in a copy of the workspace', () => {
  it('--dry-run changes nothing, and an invalid name is reported in one line', async () => {
    const dry = await nx('g', '@animal-store/tools:context', 'orders', '--singular=order', '--dry-run');
    expectSuccess(dry);
    expect(dry.output).toContain('CREATE libs/orders/domain/src/order.ts');
    const rejected = await nx('g', '@animal-store/tools:context', 'Orders', '--singular=order');
    expect(rejected.code).not.toBe(0);
    expect(rejected.output).toContain('the name "Orders" must be in kebab-case');
    expect((await copy.git('status', '--short')).output).toBe('');
  });

  it.each(CONTEXTS)('the generators create the context %s, with another migration', async (context) => {
    const singular = context.slice(0, -1);
    const commands = [
      ['context', context, `--singular=${singular}`, '--sharded', '--description=what clients order'],
      ['migration', 'add-due-date', `--context=${context}`],
      ...(context === 'purchase-orders'
        ? [['resource', NESTED, '--singular=delivery-note', `--context=${context}`, `--parent=${singular}`] as const]
        : []),
    ] as const;
    for (const [generator, ...options] of commands) {
      const output = expectSuccess(await nx('g', `@animal-store/tools:${generator}`, ...options));
      // The next steps.
      expect(output).toMatch(/^ {2}Read {2,}\S/m);
    }
  });

  it('the tests fail until the migration is written', async () => {
    const { code, output } = await nx('run-many', '-t=test', '-p=orders-infrastructure', '--outputStyle=static');
    expect(code).not.toBe(0);
    expect(output).toContain('The migration add-due-date is not written yet');
    for (const context of CONTEXTS) writeMigration(context, 'add-due-date');
  });

  it('no file of another context changes, and the code of the app and of the client gets a few lines per context', async () => {
    const { output } = await copy.git('diff', '--numstat');
    const lines = output
      .trim()
      .split('\n')
      .filter((line) => !line.endsWith('\tlibs/client/src/openapi.generated.ts'));
    expect(lines.filter((line) => /\t(?:libs|tools|apps\/[^/]+\/src)\//.test(line))).toEqual([
      `${String(CONTEXTS.length + 1)}\t1\tapps/api/src/registered-contexts.ts`,
      `${String(3 * CONTEXTS.length)}\t0\tlibs/client/src/animal-store.ts`,
      `${String(CONTEXTS.length + 1)}\t0\tlibs/client/src/index.ts`,
    ]);
  });

  it('docs/architecture.md lists the contexts', async () => {
    const { output } = await copy.git('diff', 'docs/architecture.md');
    for (const context of CONTEXTS)
      expect(output).toContain(`\n+- [\`libs/${context}\`](../libs/${context}/README.md): what clients order\n`);
  });

  it('every file is formatted, linted and used, and the specs that a context affects pass', async () => {
    const output = expectSuccess(await testChanges(copy));
    for (const context of CONTEXTS) expectTestsRan(output, context);
  });

  it('sharding rules that the new context breaks are found', async () => {
    const [file = ''] = readdirSync(pathOf('libs/orders/infrastructure/src/migrations')).filter((name) =>
      name.endsWith('-create-orders.ts'),
    );
    const statements = [
      'CREATE UNIQUE INDEX order_id_key ON orders.idempotency_keys (order_id)',
      'CREATE TABLE orders.notes (id bigint PRIMARY KEY)',
    ];
    const planted = statements.map((statement) => `await queryRunner.query('${statement}');\n  `).join('  ');
    const restore = plant(`libs/orders/infrastructure/src/migrations/${file}`, '  }\n}', `    ${planted.trimEnd()}\n  }\n}`);
    const { code, output } = await copy.shell('npm run jest -- tools/checks/contexts/src/sharding.integration.spec.ts');
    restore();
    expect([code, output.slice(0, MAX_OUTPUT)]).toEqual([1, expect.stringContaining('orders.order_id_key is unique across shards')]);
    expect(output).toContain('orders.notes is neither distributed nor in unsharded');
  });

  it('imports between the new context and pets are reported, in both directions', async () => {
    const imports = [
      ['orders', 'pets'],
      ['pets', 'orders'],
    ] as const;
    for (const [from, to] of imports) {
      const planted = `libs/${from}/application/src/planted.ts`;
      writeFileSync(join(copy.folder, planted), `export type * from '@animal-store/${to}-domain';\n`);
      const { code, output } = await copy.node(ESLINT, planted);
      rmSync(join(copy.folder, planted));
      expect([code, output]).toEqual([1, expect.stringContaining('@nx/enforce-module-boundaries')]);
      expect(output).toContain(`A project tagged with "scope:${from}" can only depend on libs tagged with`);
    }
  });

  it('the new routes are in the OpenAPI document', async () => {
    const { output } = await copy.git('diff', 'docs/openapi.json');
    for (const context of CONTEXTS) expect(output).toContain(`+    "/${context}": {`);
    expect(output).toContain(`Id}/${NESTED}": {`);
  });
});

it('the first route, on the built service, has authentication, validation and the shape of errors', async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, DRAIN_SECONDS: '0' };
  const service = await ServiceProcess.start(env, { command: [process.execPath, pathOf('apps/api/bundle/main.js')] });
  const keyFor = async (scope: string) => {
    const cli = ['keys', 'create', '--client', scope, '--scope', scope, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, [pathOf('apps/cli/dist/main.js'), ...cli], { env });
    return (JSON.parse(stdout) as { key: string }).key;
  };
  const post = async (key: string | undefined, body: string) => {
    const headers = { 'Content-Type': 'application/json', ...(key !== undefined && { Authorization: `Bearer ${key}` }) };
    const response = await fetch(`${service.url}/v1/orders`, { method: 'POST', headers, body });
    return [response.status, await response.json()] as const;
  };
  const [writer, otherKey] = [await keyFor('orders:write'), await keyFor('pets:write')];
  const error = (status: number, code: string, message = /\S/) => [status, { code, message: expect.stringMatching(message), status }];
  expect(await post(undefined, '{}')).toEqual(error(401, 'missing_api_key'));
  expect(await post('wrong', '{}')).toEqual(error(401, 'invalid_api_key'));
  expect(await post(otherKey, '{"name":"first"}')).toEqual(error(403, 'insufficient_scope'));
  expect(await post(writer, '{"name":')).toEqual(error(400, 'malformed_json'));
  expect(await post(writer, '{"name":7}')).toEqual(error(400, 'invalid_request', /^name must be a string/));
  expect(await post(writer, '{"name":"first"}')).toEqual([201, { id: 1, name: 'first' }]);
  await service.stop();
  await database.drop();
});
