import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const START_TIMEOUT_MS = 20_000;

/** Starts a program of the deployed service in its folder or its image, with pipes and only these environment variables. */
export type Run = (command: readonly string[], env: Readonly<Record<string, string>>) => ChildProcess;

export interface ProcessResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when a program has exited. */
export async function waitForExit(child: ChildProcess): Promise<ProcessResult> {
  const output = collect(child);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, ...output };
}

/** A running service that is tested over HTTP. */
export class DeployedService {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  /** Waits until the service logs its address. */
  static async waitUntilListening(child: ChildProcess): Promise<DeployedService> {
    const output = collect(child);
    const url = await new Promise<string>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`the service ${what}:\n${output.stdout}${output.stderr}`));
      const timer = setTimeout(() => fail('does not listen'), START_TIMEOUT_MS);
      child.once('exit', (code) => fail(`exited with ${String(code)}`));
      child.stdout?.on('data', () => {
        const [, found] = /"url":"(http:[^"]+)"/.exec(output.stdout) ?? [];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      });
    });
    return new DeployedService(child, url);
  }

  get port(): string {
    return new URL(this.url).port;
  }

  async request(path: string, init: { key?: string; body?: unknown } = {}): Promise<{ status: number; text: string }> {
    const response = await fetch(new URL(path, this.url), {
      headers: {
        ...(init.key && { authorization: `Bearer ${init.key}` }),
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(init.body !== undefined && { method: 'POST', body: JSON.stringify(init.body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** Stops the service with `terminate` and returns its exit code. */
  async stop(terminate: (child: ChildProcess) => unknown): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode;
    const exit = once(this.child, 'exit') as Promise<[number | null]>;
    terminate(this.child);
    const [exitCode] = await exit;
    return exitCode;
  }
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk));
  return output;
}
