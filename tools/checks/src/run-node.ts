import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { ROOT } from './workspace.js';

export interface Run {
  /** Of a run that was not ended by a signal. */
  readonly exitCode: number | null;
  readonly output: string;
}

/** Runs a program of an npm package on the workspace. */
export async function runNode(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Run> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { exitCode, output: stdout + stderr };
}
