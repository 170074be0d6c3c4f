import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Container, type Manifest, render, requireHelm } from './manifests.js';
import { programPath } from './observed-service.js';

// `npm run verify -- migrations`: runs the commands of the migration Job as its containers do.

requireHelm();
if (spawnSync('psql', ['--version']).error) {
  throw new Error(
    "psql is missing. Install Debian's package postgresql-client (apt-get install --no-install-recommends postgresql-client)",
  );
}

interface Job extends Manifest {
  readonly spec: { readonly template: { readonly spec: { initContainers?: readonly Container[]; containers: readonly Container[] } } };
}

const folder = mkdtempSync(join(tmpdir(), 'animal-store-job-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Replaces the paths of the containers by local folders. */
const toLocalPaths = (text: string) =>
  text.replaceAll('/grants/', `${folder}/grants/`).replaceAll('/etc/animal-store/secrets/', `${folder}/secrets/`);

describe.each(['file', 'env'])('with secrets as %s', (as) => {
  const roles = { service: `service_${as}_${process.pid}`, keys: `keys_${as}_${process.pid}` };
  let database: TestDatabase;
  const sql = (statement: string) =>
    spawnSync('psql', ['--no-psqlrc', '--tuples-only', '--no-align', '--command', statement, database.url], { encoding: 'utf8' });

  beforeAll(async () => {
    database = await createTestDatabase();
    for (const name of ['bin', 'grants', 'secrets']) mkdirSync(join(folder, name), { recursive: true });
    const program = join(folder, 'bin/animal-store');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${programPath('cli')}' "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(folder, 'secrets/migration-database-url'), database.url);
    for (const role of Object.values(roles)) expect(sql(`CREATE ROLE ${role}`)).toMatchObject({ status: 0 });
  });

  afterAll(async () => {
    await database.drop();
  });

  it.each(['the first time', 'again'])('migrates and grants %s', () => {
    const grants = `migrations.grants.enabled=true,migrations.grants.serviceRole=${roles.service},migrations.grants.keysRole=${roles.keys}`;
    const manifests = render('--set', `secrets.database.name=database,secrets.as=${as},${grants}`);
    const { initContainers = [], containers } = (manifests.find(({ kind }) => kind === 'Job') as Job).spec.template.spec;
    for (const { command = [], env = [] } of [...initContainers, ...containers]) {
      const [program = '', ...args] = command.map(toLocalPaths);
      const values = env.map(({ name, value }) => [name, value === undefined ? database.url : toLocalPaths(value)]);
      const PATH = [join(folder, 'bin'), process.env['PATH']].join(delimiter);
      const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH, ...(Object.fromEntries(values) as object) } });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
  });

  it('grants each role only what it needs', () => {
    const as = (role: string, statement: string) => sql(`SET ROLE ${role}; ${statement}`).stderr.trim();
    expect(as(roles.service, 'SELECT count(*) FROM pets.pets')).toBe('');
    expect(as(roles.keys, 'SELECT count(*) FROM access.clients')).toBe('');
    expect(as(roles.service, 'DELETE FROM pets.pets')).toContain('permission denied');
    expect(as(roles.keys, 'SELECT count(*) FROM pets.pets')).toContain('permission denied');
  });
});
