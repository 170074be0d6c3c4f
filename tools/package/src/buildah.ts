import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ImageConfig } from './container.js';
import { readDockerfile } from './dockerfile.js';
import { PackagingError } from './packaging-error.js';

/** What the binary of Node.js is linked with. */
const LIBRARIES = ['libatomic1', 'libstdc++6'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Builds images without a daemon and without an image registry; everything is below one folder. */
export class Buildah {
  private readonly storage: readonly string[];

  constructor(
    private readonly workspace: string,
    private readonly folder: string,
  ) {
    this.storage = ['--storage-driver', 'vfs', '--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  }

  /** Debian, the locked Node.js and this machine's npm, under the name of the image that the Dockerfile starts from. */
  async makeBaseImage(): Promise<string> {
    const { nodeImage } = await readDockerfile(this.workspace);
    const [, release] = /-([a-z]+)-slim/.exec(nodeImage) ?? [];
    if (release === undefined) throw new PackagingError(`${nodeImage} names no release of Debian.`);
    const container = this.ask('from', 'scratch');
    const root = this.ask('mount', container);
    // In a mount namespace of its own: what it mounts goes with it.
    run('unshare', '--mount', 'debootstrap', '--variant=minbase', `--include=${LIBRARIES.join()}`, release, root);
    const local = join(root, 'usr/local');
    await cp(lockedNode(), join(local, 'bin/node'));
    await mkdir(join(local, 'lib/node_modules'), { recursive: true });
    await cp(npmFolder(), join(local, 'lib/node_modules/npm'), { recursive: true });
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    run('chroot', root, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node');
    this.run('config', '--env', `PATH=${PATH}`, '--cmd', 'node', container);
    this.run('commit', '--quiet', '--rm', container, `docker.io/library/${nodeImage}`);
    return nodeImage;
  }

  async build(image: string): Promise<void> {
    const npmrc = join(this.folder, 'npmrc');
    await writeFile(npmrc, await npmSettings(this.workspace), { mode: 0o600 });
    const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: this.workspace, encoding: 'utf8' }).trim();
    const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--secret', `id=npmrc,src=${npmrc}`];
    this.run('build', ...options, '--build-arg', `REVISION=${revision}`, '--tag', image, this.workspace);
  }

  inspect(image: string): ImageConfig {
    return (JSON.parse(this.ask('inspect', '--type', 'image', image)) as { Docker: { config: ImageConfig } }).Docker.config;
  }

  /** The folder with the image's files. */
  mount(image: string): string {
    return this.ask('mount', this.ask('from', '--pull-never', image));
  }

  private run(...args: readonly string[]): void {
    // Caches of the build are kept below TMPDIR.
    run('env', `TMPDIR=${this.folder}`, 'buildah', ...this.storage, ...args);
  }

  private ask(...args: readonly string[]): string {
    return execFileSync('buildah', [...this.storage, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  }
}

/** Runs a command that tells by itself what is wrong. */
function run(command: string, ...args: readonly string[]): void {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch {
    throw new PackagingError(`${[command, ...args].join(' ')} failed; see above.`);
  }
}

function lockedNode(): string {
  const manifest = createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`);
  return join(dirname(manifest), 'bin/node');
}

/** The npm that runs this script, its own dependencies inside. */
function npmFolder(): string {
  const entry = process.env['npm_execpath'];
  if (entry === undefined) throw new PackagingError('Start it with npm run verify:image.');
  return join(dirname(entry), '..');
}

/** How npm reaches its registry from this machine: the address, and the certificates of a proxy. */
async function npmSettings(workspace: string): Promise<string> {
  const setting = (name: string) => execFileSync('npm', ['config', 'get', name], { cwd: workspace, encoding: 'utf8' }).trim();
  const lines = [['registry', setting('registry')].join('=')];
  for (const file of new Set([setting('cafile'), process.env['NODE_EXTRA_CA_CERTS']])) {
    if (file === undefined || file === 'null') continue;
    const certificates = (await readFile(file, 'utf8')).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    lines.push(...certificates.map((certificate) => `ca[]=${JSON.stringify(certificate)}`));
  }
  return `${lines.join('\n')}\n`;
}
