import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { useOwnService } from '../support/use-api.js';
import { FaultProxy } from './fault-proxy.js';

jest.setTimeout(20 * 60_000);

const DOCUMENT = join(import.meta.dirname, '../../../../docs/openapi.json');
const PROGRAMS = join(import.meta.dirname, '../../generated-clients');
/** What each program prints: an animal that it adds twice with one key, the error of another animal with this key, and all pages. */
const PRINTED = `${'2 9223372036854775807\n'.repeat(2)}422 idempotency_key_reused\nTom 9223372036854775807\nRex 9223372036854775807\n`;

const NPM = 'npm install --no-audit --no-fund --ignore-scripts typescript@5.9.3 @types/node';
const TSC = ['npx -y typescript@7.0.2 --types node --module nodenext --outDir dist $CLIENT.ts', `${process.execPath} dist/$CLIENT.js`];
const MAVEN = 'mvn -q -B -Dmaven.compiler.release=17';
const RUN_CLASS = `${MAVEN} org.codehaus.mojo:exec-maven-plugin:3.6.2:java -Dexec.mainClass`;
const GENERATOR = `${MAVEN} dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=. && \
  java -jar openapi-generator-cli-7.25.0.jar generate -i openapi.json -o .`;
const LENIENT = '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false';
const JAVA = [`cp Program.java $CLIENT/Client.java src/main/java && ${MAVEN} compile`, `${RUN_CLASS}=Program`];
const KOTLIN = `cp program.kt src/main/kotlin && ${MAVEN} org.jetbrains.kotlin:kotlin-maven-plugin:2.4.0:compile`;
const PIP = 'python3 -m venv venv && venv/bin/pip install';
const GO_RUN = 'go mod init program && go run';
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const GO = ['go mod tidy && go build -o program $CLIENT.go oas_*.go', './program'];

/** The commands that generate a client, compile it unchanged with its program, and run the program. */
const WITH_NPM = [
  ['openapi-fetch', `${NPM} openapi-fetch@0.17.0 openapi-typescript@7.13.0 && npx openapi-typescript openapi.json -o schema.ts`, ...TSC],
  ['hey-api', `${NPM} @hey-api/openapi-ts@0.99.0 && npx openapi-ts -f hey-api.config.mjs`, ...TSC],
  ['orval', `${NPM} orval@8.38.0 && npx orval --config orval.config.mjs`, ...TSC],
];
const WITH_OTHERS = [
  ['java-native', `${GENERATOR} -g java --library native`, ...JAVA],
  ['java-okhttp-gson', `${GENERATOR} -g java --library okhttp-gson ${LENIENT}`, ...JAVA],
  ['kotlin', `${GENERATOR} -g kotlin`, KOTLIN, `${RUN_CLASS}=ProgramKt`],
  ['openapi-generator-python', `${GENERATOR} -g python`, `${PIP} .`, 'venv/bin/python $CLIENT.py'],
  [
    'openapi-python-client',
    `${PIP} openapi-python-client==0.29.1 && venv/bin/openapi-python-client generate --path openapi.json`,
    'venv/bin/pip install ./animal-store-client',
    'venv/bin/python $CLIENT.py',
  ],
  ['oapi-codegen', `${GO_RUN} ${OAPI_CODEGEN} -generate types,client -package main -o oas_client.go openapi.json`, ...GO],
  ['ogen', `${GO_RUN} github.com/ogen-go/ogen/cmd/ogen@v1.25.0 --target . --package main openapi.json`, ...GO],
];
/** The others need Go, Java, Maven and Python. */
const clients = process.env['ALL_CLIENTS'] === 'true' ? [...WITH_NPM, ...WITH_OTHERS] : WITH_NPM;

describe.each(clients)('the generated client %s', (client, generate, compile, run) => {
  const own = useOwnService();

  it('compiles and adds, repeats, pages, reads exactly and ignores new members', async () => {
    await own.api.createPet({ name: 'Tom', categoryId: 2n ** 63n - 1n, status: 'sold' });
    const addMember = (body: Buffer) => Buffer.from(body.toString().replaceAll('"categoryId":', '"later":{"added":[1]},$&'));
    const proxy = await FaultProxy.start(own.api.target.baseUrl, addMember);
    const env = { ...process.env, CLIENT: client, API_KEY: own.api.target.key, BASE_URL: proxy.url };
    const script = `cd "$(mktemp -d)"; trap 'rm -rf "$PWD"' EXIT
      (cp -r ${DOCUMENT} ${PROGRAMS}/. . && ${generate} && ${compile}) >&2
      ${run}`;
    const program = promisify(execFile)('sh', ['-eu', '-c', script], { env }).finally(() => void proxy.stop());
    // Maven writes errors to the standard output, the others to the standard error, which the message has.
    const { stdout } = await program.catch((error: unknown) => ({ stdout: `${String(error)}${(error as { stdout: string }).stdout}` }));
    expect(stripVTControlCharacters(stdout)).toBe(PRINTED);
  });
});
