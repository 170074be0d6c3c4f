/**
 * `npm run verify:image`: builds the Dockerfile without Docker and without an image registry, and runs the image's files as the
 * image says, read-only and without rights, against a PostgreSQL of its own. For root on Debian, with the network for packages.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startThrowAwayPostgres } from '@animal-store/local-postgres/testing';
import { Buildah } from './buildah.js';
import { type ImageConfig, processOneOf, runIn } from './container.js';
import { DeployedService, type Ended, ended, type Run } from './deployed-service.js';
import { PackagingError } from './packaging-error.js';

const WORKSPACE = join(import.meta.dirname, '../../..');
const IMAGE = 'localhost/animal-store:verify';
/** Each is a command and the Debian package that brings it. */
const TOOLS = ['buildah', 'debootstrap'];

try {
  requireTools();
  await verifyImage();
} catch (error) {
  console.error(error instanceof PackagingError ? error.message : error);
  process.exitCode = 1;
}

function requireTools(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new PackagingError('verify:image mounts file systems and changes roots: run it as root, on Debian.');
  }
  const missing = TOOLS.filter((tool) => !isInstalled(tool)).join(' ');
  if (missing === '') return;
  throw new PackagingError(
    `Missing Debian packages: ${missing}\nInstall them: apt-get update && apt-get install -y --no-install-recommends ${missing}`,
  );
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function verifyImage(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-image-'));
  try {
    const buildah = new Buildah(WORKSPACE, folder);
    console.log('Making the base image of Debian packages and the locked Node.js …');
    console.log(`Building the Dockerfile on that ${await buildah.makeBaseImage()} …`);
    await buildah.build(IMAGE);
    const config = buildah.inspect(IMAGE);
    checkConfig(config);
    const root = buildah.mount(IMAGE);
    await checkFiles(root);
    console.log('Running it …');
    const postgres = await startThrowAwayPostgres();
    try {
      await checkService(runIn(root, config), config, postgres.url);
    } finally {
      await postgres.stop();
    }
    console.log('The image works.');
  } finally {
    execFileSync('rm', ['--recursive', '--force', '--one-file-system', folder]);
  }
}

function checkConfig(config: ImageConfig): void {
  assert.match(config.User, /^[1-9]\d*:[1-9]\d*$/);
  assert.deepEqual(
    [...(config.Entrypoint ?? []), ...config.Cmd],
    ['node', '--max-semi-space-size=8', '--heap-growing-percent=20', '--v8-pool-size=1', '--no-maglev', 'apps/api/bundle/main.js'],
  );
  assert.equal(config.WorkingDir, '/app');
  for (const variable of ['NODE_ENV=production', 'HOST=0.0.0.0']) assert.ok(config.Env.includes(variable), variable);
  assert.deepEqual(Object.keys(config.ExposedPorts), ['3000/tcp']);
  assert.equal(config.Healthcheck.Test[0], 'CMD');
  assert.match(config.Labels['org.opencontainers.image.revision'] ?? '', /^[0-9a-f]{40}$/);
}

async function checkFiles(root: string): Promise<void> {
  const inApp = ['LICENSE', 'apps', 'bin', 'libs', 'node_modules', 'package-lock.json', 'package.json'];
  assert.deepEqual((await readdir(join(root, 'app'))).sort(), inApp);
  const fromTheBuild = ['workspace', 'package', 'manifests', 'run/secrets/npmrc', 'var/cache/npm', 'app/node_modules/typescript'];
  for (const path of [...fromTheBuild, 'usr/local/bin/npm', 'usr/local/lib/node_modules']) {
    await assert.rejects(stat(join(root, path)), { code: 'ENOENT' }, path);
  }
}

async function checkService(run: Run, config: ImageConfig, databaseUrl: string): Promise<void> {
  const env = { DATABASE_URL: databaseUrl, PORT: String(await freePort()), DRAIN_SECONDS: '0' };
  const end = (...command: readonly string[]): Promise<Ended> => ended(run(command, env));
  const succeed = async (...command: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await end(...command);
    assert.equal(exitCode, 0, `${command.join(' ')} ended with ${String(exitCode)}:\n${stdout}${stderr}`);
    return stdout;
  };
  const self = await succeed('node', '-p', '`${process.getuid()}:${process.getgid()} ${process.pid}`');
  assert.equal(self.trim(), `${config.User} 1`);
  const { stderr } = await end('node', '-e', "require('node:fs').writeFileSync('/tmp/file', '')");
  assert.match(stderr, /EROFS/);

  await succeed('animal-store', 'migrate', 'up');
  const { key } = JSON.parse(await succeed('animal-store', 'keys', 'create', '--client', 'verify', '--if-none', '--json')) as {
    key: string;
  };
  const [, ...healthCheck] = config.Healthcheck.Test;
  const child = run([...(config.Entrypoint ?? []), ...config.Cmd], env);
  try {
    const service = await DeployedService.listening(child);
    assert.deepEqual(await service.request('/v1/pets', { key }), { status: 200, text: '[]' });
    const { status, text } = await service.request('/v1/pets', { key, body: { name: 'Rex', categoryId: 7 } });
    assert.equal(status, 201);
    assert.deepEqual(JSON.parse((await service.request('/v1/pets', { key })).text), [JSON.parse(text)]);
    assert.equal((await service.request('/docs')).status, 200);
    await succeed(...healthCheck);
    const processOne = await processOneOf(child);
    assert.equal(await service.stop(() => process.kill(processOne, 'SIGTERM')), 0);
    assert.equal((await end(...healthCheck)).exitCode, 1);
  } finally {
    child.kill('SIGKILL');
  }
}

/** The health check has to know it before. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
