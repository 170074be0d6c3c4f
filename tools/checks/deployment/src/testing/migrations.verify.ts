import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Container, type Manifest, render, requireHelm } from './manifests.js';
import { programPath } from '@animal-store/test-kit/service-process';

// `npm run verify -- migrations`: runs the commands of the migration Job as its containers do.

requireHelm();

interface Job extends Manifest {
  readonly spec: { readonly template: { readonly spec: { initContainers?: readonly Container[]; containers: readonly Container[] } } };
}

const folder = mkdtempSync(join(tmpdir(), 'animal-store-job-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Replaces the paths of the containers by local folders. */
const toLocalPaths = (text: string) => text.replaceAll('/etc/animal-store/secrets/', `${folder}/secrets/`);

describe.each(['file', 'env'])('with secrets as %s', (as) => {
  const roles = { service: `service_${as}_${process.pid}`, keys: `keys_${as}_${process.pid}` };
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    for (const name of ['bin', 'secrets']) mkdirSync(join(folder, name), { recursive: true });
    const program = join(folder, 'bin/animal-store');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${programPath('cli')}' "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(folder, 'secrets/migration-database-url'), database.url);
    for (const role of Object.values(roles)) await query(database.url, `CREATE ROLE ${role}`);
  });

  afterAll(async () => {
    await database.drop();
  });

  it.each(['the first time', 'again'])('migrates and grants %s', () => {
    const grants = `migrations.grants.enabled=true,migrations.grants.serviceRole=${roles.service},migrations.grants.keysRole=${roles.keys}`;
    const manifests = render('--set', `secrets.database.name=database,secrets.as=${as},${grants}`);
    const { initContainers = [], containers } = (manifests.find(({ kind }) => kind === 'Job') as Job).spec.template.spec;
    for (const { command = [], env = [] } of [...initContainers, ...containers]) {
      const [program = '', ...args] = command;
      const values = env.map(({ name, value }) => [name, value === undefined ? database.url : toLocalPaths(value)]);
      const PATH = [join(folder, 'bin'), process.env['PATH']].join(delimiter);
      const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH, ...(Object.fromEntries(values) as object) } });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    }
  });

  it('grants each role only what it needs', async () => {
    const as = (role: string, statement: string) => query(database.url, `SET ROLE ${role}; ${statement}`);
    await as(roles.service, 'SELECT FROM pets.pets');
    await as(roles.keys, 'SELECT FROM access.clients');
    await expect(as(roles.service, 'DELETE FROM pets.pets')).rejects.toThrow('permission denied');
    await expect(as(roles.keys, 'SELECT FROM pets.pets')).rejects.toThrow('permission denied');
  });
});
