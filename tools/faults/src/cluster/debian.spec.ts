import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { findPrograms } from './debian.js';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'animal-store-debian-'));
});

afterEach(() => rm(root, { recursive: true }));

async function install(...programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    await mkdir(dirname(join(root, program)), { recursive: true });
    await writeFile(join(root, program), '');
  }
}

it('finds the programs, and the newest PostgreSQL with a server', async () => {
  await install('usr/bin/etcd', 'usr/bin/patroni', 'usr/sbin/haproxy', 'usr/sbin/pgbouncer');
  await install('usr/lib/postgresql/9.6/bin/initdb', 'usr/lib/postgresql/15/bin/initdb', 'usr/lib/postgresql/17/bin/psql');
  expect(findPrograms(root)).toEqual({
    etcd: join(root, 'usr/bin/etcd'),
    patroni: join(root, 'usr/bin/patroni'),
    haproxy: join(root, 'usr/sbin/haproxy'),
    pgbouncer: join(root, 'usr/sbin/pgbouncer'),
    postgresFolder: join(root, 'usr/lib/postgresql/15/bin'),
  });
});

it('lists only the missing packages', async () => {
  const command = 'apt-get install --no-install-recommends';
  expect(() => findPrograms(root)).toThrow(`${command} etcd-server patroni haproxy pgbouncer postgresql`);
  await install('usr/bin/etcd', 'usr/sbin/haproxy', 'usr/sbin/pgbouncer', 'usr/lib/postgresql/15/bin/initdb');
  expect(() => findPrograms(root)).toThrow(new RegExp(`${command} patroni$`));
});
