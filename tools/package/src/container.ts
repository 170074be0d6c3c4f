import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Run } from './deployed-service.js';

/** The image's configuration; https://github.com/opencontainers/image-spec/blob/main/config.md, with Docker's health check. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Mounts below `$1` what a container has, makes the rest read-only and becomes `$2:$3` in it, without a right to more. */
const START = `
  root=$1 user=$2 group=$3 folder=$4
  shift 4
  mount --bind "$root" "$root"
  mount --types proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --options remount,bind,ro "$root"
  exec chroot "$root" \\
    setpriv --reuid="$user" --regid="$group" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
    env --ignore-environment --chdir="$folder" "$@"
`;

/** Runs programs below `root` as process 1 of a container with a read-only root file system, on this machine's network. */
export function runIn(root: string, config: ImageConfig): Run {
  const [user = '', group = ''] = config.User.split(':');
  return (command, env) => {
    const variables = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const script = ['sh', '-euc', START, 'sh', root, user, group, config.WorkingDir, ...variables, ...command];
    return spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', ...script], { stdio: ['ignore', 'pipe', 'pipe'] });
  };
}

/** The process 1 that `runIn` has started, by its number outside. */
export async function processOneOf({ pid = 0 }: ChildProcess): Promise<number> {
  return Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'));
}
