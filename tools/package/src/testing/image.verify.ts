import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { command, healthCheck, nodeImage, WORKSPACE } from './container-files.js';
import { type Run, testDeployedService, waitForExit } from './deployed.suite.js';

// `npm run verify -- image`: not part of `npm test`, since it needs root, Debian packages and the network.

const missing = ['buildah', 'debootstrap'].filter((tool) => spawnSync(tool, ['--version']).error);
if (missing.length > 0) throw new Error(`Missing Debian packages: apt-get install --no-install-recommends ${missing.join(' ')}`);
if (process.getuid?.() !== 0) throw new Error('Run this suite as root: it mounts file systems and changes the root folder');

const IMAGE = 'localhost/animal-store:verify';

/** Builds the base image from Debian's packages, this Node.js and this npm, then the Dockerfile on it. */
const BUILD = `
  container=$(buildah from scratch)
  root=$(buildah mount "$container")
  # The mounts of debootstrap are removed together with its mount namespace.
  unshare --mount debootstrap --variant=minbase --include=libatomic1,libstdc++6 "$RELEASE" "$root" >&2
  cp "$NODE" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -R "$(dirname "$npm_execpath")/.." "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  chroot "$root" useradd --uid 1000 --user-group node
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  buildah commit --quiet --rm "$container" "docker.io/library/$NODE_IMAGE"
  buildah build --isolation chroot --format docker --pull-never --secret "id=npmrc,src=$TMPDIR/npmrc" \\
    --build-arg "REVISION=$(git rev-parse HEAD)" --tag ${IMAGE} .
`;

/** Runs "$@" in the image at $ROOT as process 1, with a read-only root file system, and without privileges. */
const RUN = `
  mount --bind "$ROOT" "$ROOT"
  mount --types proc proc "$ROOT/proc"
  mount --rbind /dev "$ROOT/dev"
  mount --options remount,bind,ro "$ROOT"
  exec chroot "$ROOT" setpriv --reuid="\${USER%:*}" --regid="\${USER#*:}" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
    env --ignore-environment --chdir="$FOLDER" "$@"
`;

/** The image's configuration; https://github.com/opencontainers/image-spec/blob/main/config.md, with Docker's health check. */
interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

const folder = mkdtempSync(join(tmpdir(), 'animal-store-image-'));
const environment = {
  ...process.env,
  TMPDIR: folder,
  CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
  NODE: process.execPath,
  NODE_IMAGE: nodeImage,
  RELEASE: /-([a-z]+)-slim/.exec(nodeImage)?.[1],
};
const shell = (script: string, stdout: 'pipe' | 'inherit' = 'pipe'): string =>
  execFileSync('bash', ['-euc', script], { cwd: WORKSPACE, env: environment, encoding: 'utf8', stdio: ['ignore', stdout, 'inherit'] });

let config: ImageConfig;
let root: string;

beforeAll(() => {
  const storage = `driver = "vfs"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`;
  writeFileSync(environment.CONTAINERS_STORAGE_CONF, `[storage]\n${storage}`);
  writeFileSync(join(folder, 'npmrc'), npmSettings(), { mode: 0o600 });
  shell(BUILD, 'inherit');
  config = (JSON.parse(shell(`buildah inspect --type image ${IMAGE}`)) as { Docker: { config: ImageConfig } }).Docker.config;
  root = shell(`buildah mount "$(buildah from --pull-never ${IMAGE})"`).trim();
}, 1_200_000);

afterAll(() => void execFileSync('rm', ['--recursive', '--force', '--one-file-system', folder]));

/** The npm configuration of this machine: the address of the registry, and the certificates of a proxy. */
function npmSettings(): string {
  const get = (name: string) => shell(`npm config get ${name}`).trim();
  const files = new Set([get('cafile'), process.env['NODE_EXTRA_CA_CERTS']]);
  const certificates = [...files].flatMap((file = 'null') =>
    file === 'null' ? [] : (readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []),
  );
  return [`registry=${get('registry')}`, ...certificates.map((text) => `ca[]=${JSON.stringify(text)}`)].join('\n');
}

const run: Run = (program, env) => {
  const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  return spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', RUN, 'sh', ...variables, ...program], {
    env: { ...process.env, ROOT: root, USER: config.User, FOLDER: config.WorkingDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

/** Process 1 is the only child of `unshare`. */
function terminate({ pid }: { readonly pid: number }): void {
  process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')), 'SIGTERM');
}

describe('the image', () => {
  it('has the configuration of the Dockerfile', () => {
    expect(config).toMatchObject({
      User: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
      WorkingDir: '/app',
      Env: expect.arrayContaining(['NODE_ENV=production', 'HOST=0.0.0.0', 'MALLOC_ARENA_MAX=1']),
      Cmd: command,
      ExposedPorts: { '3000/tcp': {} },
      Healthcheck: { Test: ['CMD', ...healthCheck] },
    });
    expect(config.Labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}$/);
  });

  it('contains the package, and nothing else from the build', () => {
    const packaged = ['LICENSE', 'THIRD-PARTY-LICENSES.txt', 'apps', 'bin', 'package.json', 'sbom.cdx.json'];
    expect(readdirSync(join(root, 'app')).sort()).toEqual(packaged);
    const buildFiles = [
      'workspace',
      'package',
      'manifests',
      'run/secrets/npmrc',
      'var/cache/npm',
      'usr/local/bin/npm',
      'usr/local/lib/node_modules',
    ];
    expect(buildFiles.filter((path) => existsSync(join(root, path)))).toEqual([]);
  });

  it('runs programs as process 1 without root, on a read-only file system', async () => {
    const { stdout } = await waitForExit(run(['node', '-p', '`${process.getuid()}:${process.getgid()} ${process.pid}`'], {}));
    expect(stdout.trim()).toBe(`${config.User} 1`);
    const { stderr } = await waitForExit(run(['node', '-e', "require('node:fs').writeFileSync('/tmp/file', '')"], {}));
    expect(stderr).toContain('EROFS');
  });
});

describe('the service in the image', () => testDeployedService(run, terminate));
