import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { HttpRequest } from './http-requests.js';
import { cpuMsOfEndedChildren } from './measurement.js';

export interface LoadOptions {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly seconds: number;
  /** Index of the first request, so that rounds do not all send the same ones. */
  readonly offset: number;
  /** Folder for the files that the generator reads. */
  readonly folder: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses with another status than 2xx, and requests without a response. */
  readonly errors: number;
  readonly generatorCpu: number;
}

export interface LoadGenerator {
  readonly name: string;
  run(options: LoadOptions): Promise<LoadResult>;
}

export interface EndedProcess {
  readonly output: string;
  readonly cpuMs: number;
}

/**
 * Runs a program and waits for its end. Its CPU time is only right if no other child ends meanwhile.
 * @throws Error with the output of the program if it fails
 */
export async function runProcess(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<EndedProcess> {
  const before = cpuMsOfEndedChildren();
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}: ${output.trim()}`);
  return { output, cpuMs: cpuMsOfEndedChildren() - before };
}

export async function isInstalled(program: string): Promise<boolean> {
  const child = spawn(program, ['--version'], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', () => resolve(true));
  });
}
