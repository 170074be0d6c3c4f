import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { useOwnService } from '../support/use-api.js';
import { FaultProxy } from './fault-proxy.js';

const WORKSPACE = join(import.meta.dirname, '../../../..');
const PROGRAMS = join(import.meta.dirname, '../../generated-clients');
const WITHIN_MS = 20 * 60_000;
/** What each program prints: an animal that it adds twice with one key, the error of another animal with this key, and all pages. */
const PRINTED = `${'1 9223372036854775807\n'.repeat(2)}422 idempotency_key_reused\nRex 1\nTom 9223372036854775807\n`;

const typescript = (packages: string, generate: string, name: string) => [
  `npm install --silent --no-audit --no-fund --ignore-scripts ${packages}`,
  generate,
  `node "$WORKSPACE/node_modules/@typescript/7/bin/tsc" --strict --target es2024 --module commonjs --moduleResolution bundler --lib es2024,dom,dom.iterable --skipLibCheck --types node --typeRoots "$WORKSPACE/node_modules/@types" --outDir dist ${name}.ts`,
  `node dist/${name}.js`,
];
const openapiGenerator = (options: string) => [
  'mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.',
  `java -jar openapi-generator-cli-7.25.0.jar generate -i openapi.json -o . ${options} > generator.log 2>&1`,
];
const maven = (goal: string, mainClass: string) =>
  `mvn -q -B -Dmaven.compiler.source=17 -Dmaven.compiler.target=17 ${goal} org.codehaus.mojo:exec-maven-plugin:3.6.2:java -Dexec.mainClass=${mainClass}`;
const java = (library: string) => [
  ...openapiGenerator(`-g java --library ${library} --additional-properties=disallowAdditionalPropertiesIfNotPresent=false`),
  `cp Program.java java-${library}/Client.java src/main/java`,
  maven('compile', 'Program'),
];
const go = (generator: string, generate: string) => [
  `cd ${generator}`,
  `go mod init program 2> /dev/null`,
  generate,
  'go mod tidy 2> /dev/null',
  'go run .',
];
const python = (packages: string, generate: readonly string[], name: string) => [
  'python3 -m venv venv',
  ...generate,
  `venv/bin/pip install --quiet ${packages}`,
  `venv/bin/python ${name}.py`,
];

const WITH_NPM: Readonly<Record<string, readonly string[]>> = {
  'openapi-fetch': typescript(
    'openapi-fetch@0.17.0 openapi-typescript@7.13.0 typescript@5.9.3',
    'npx openapi-typescript openapi.json -o schema.ts > generator.log 2>&1',
    'openapi-fetch',
  ),
  'hey-api': typescript('@hey-api/openapi-ts@0.99.0 typescript@5.9.3', 'npx openapi-ts -f hey-api.config.mjs > generator.log', 'hey-api'),
  orval: typescript('orval@8.38.0 typescript@5.9.3', 'npx orval --config orval.config.mjs > generator.log', 'orval'),
};
const WITH_OTHERS: Readonly<Record<string, readonly string[]>> = {
  'java native': java('native'),
  'java okhttp-gson': java('okhttp-gson'),
  kotlin: [
    ...openapiGenerator('-g kotlin'),
    'cp program.kt src/main/kotlin',
    maven('org.jetbrains.kotlin:kotlin-maven-plugin:2.4.0:compile', 'ProgramKt'),
  ],
  'openapi-generator python': python('.', openapiGenerator('-g python'), 'openapi-generator'),
  'openapi-python-client': python(
    './animal-store-client',
    [
      'venv/bin/pip install --quiet openapi-python-client==0.29.1',
      'venv/bin/openapi-python-client generate --path openapi.json > generator.log 2>&1',
    ],
    'openapi-python-client',
  ),
  'oapi-codegen': go(
    'oapi-codegen',
    'go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate types,client -package main -o client.go ../openapi.json',
  ),
  ogen: go('ogen', 'go run github.com/ogen-go/ogen/cmd/ogen@v1.25.0 --target . --package main ../openapi.json 2> generator.log'),
};

const own = useOwnService();
let proxy: FaultProxy;
let folder: string;

beforeAll(async () => {
  const addMember = (body: Buffer) => Buffer.from(body.toString().replaceAll('"status":"available"', '$&,"later":{"added":[1]}'));
  proxy = await FaultProxy.start(own.api.target.baseUrl, addMember);
});
afterAll(() => proxy.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-client-'));
  await cp(PROGRAMS, folder, { recursive: true });
  await cp(join(WORKSPACE, 'docs/openapi.json'), join(folder, 'openapi.json'));
  const client = new Client({ connectionString: own.databaseUrl });
  await client.connect();
  await client.query('TRUNCATE pets.pets, pets.idempotency_keys RESTART IDENTITY');
  await client.query(
    `INSERT INTO pets.pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE VALUES (${2n ** 63n - 1n}, 'Tom', 7, 'sold')`,
  );
  await client.end();
});

afterEach(() => rm(folder, { recursive: true }));

/** All of them need Go, Java, Maven and Python. */
const clients = process.env['ALL_CLIENTS'] === 'true' ? { ...WITH_NPM, ...WITH_OTHERS } : WITH_NPM;

describe('a generated client compiles and adds, repeats, pages, reads exactly and ignores new members', () => {
  it.each(Object.entries(clients))(
    '%s',
    async (_name, commands) => {
      const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
      const env = { ...process.env, API_KEY: own.api.target.key, BASE_URL: proxy.url, WORKSPACE, PATH: path };
      const run = promisify(execFile)('sh', ['-eu', '-c', commands.join('\n')], { cwd: folder, env });
      const { stdout } = await run.catch((error: unknown) => ({ stdout: `${String(error)}${(error as { stdout: string }).stdout}` }));
      expect(stripVTControlCharacters(stdout)).toBe(PRINTED);
    },
    WITHIN_MS,
  );
});
