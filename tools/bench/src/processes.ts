import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a program, waits for its end and returns its output.
 * @throws Error with the output of the program if it fails
 */
export async function runProcess(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${program} ended with ${code ?? signal}: ${output.trim()}`);
  return output;
}

export async function isInstalled(program: string): Promise<boolean> {
  const child = spawn(program, ['--version'], { stdio: 'ignore' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', () => resolve(true));
  });
}
