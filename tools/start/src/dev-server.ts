import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const CLOSE_WITHIN_MS = 5_000;
const here = (file: string) => join(import.meta.dirname, file);

/** The service in a child process, which is replaced when its sources have changed. */
export class DevServer {
  private current: ChildProcess | undefined;
  /** The one that comes next. Packages are most of what is to load, and it has them loaded already. */
  private spare: ChildProcess | undefined;
  private packages: readonly string[] = [];

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** Resolves to the address, or to undefined when the new sources do not run; the child has said why. */
  async replace(): Promise<string | undefined> {
    const next = this.spare ?? this.fork();
    this.spare = undefined;
    try {
      const loaded = await ask<{ packages: string[] }>(next, 'load');
      // What cannot be loaded does not replace what runs.
      if (!loaded) return undefined;
      this.packages = loaded.packages;
      await close(this.current);
      this.current = next;
      const serving = await ask<{ url: string }>(next, 'serve');
      return serving?.url;
    } finally {
      this.spare = this.fork();
    }
  }

  async close(): Promise<void> {
    await Promise.all([close(this.spare), close(this.current)]);
  }

  private fork(): ChildProcess {
    return fork(here('dev-service.js'), this.packages, {
      env: { ...this.env, NODE_COMPILE_CACHE: here('dev/.cache') },
      execArgv: ['--conditions=@animal-store/source', '--enable-source-maps', '--import', pathToFileURL(here('dev-hooks.js')).href],
    });
  }
}

/** Undefined when the child ends instead of answering. */
async function ask<Answer>(child: ChildProcess, message: string): Promise<Answer | undefined> {
  if (!isRunning(child)) return undefined;
  const settled = new AbortController();
  const { signal } = settled;
  try {
    const answer = Promise.race([
      once(child, 'message', { signal }).then(([value]) => value as Answer),
      once(child, 'exit', { signal }).then(() => undefined),
    ]);
    child.send(message);
    return await answer;
  } finally {
    settled.abort();
  }
}

async function close(child: ChildProcess | undefined): Promise<void> {
  if (!child || !isRunning(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_WITHIN_MS);
  await exit;
  clearTimeout(timer);
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
