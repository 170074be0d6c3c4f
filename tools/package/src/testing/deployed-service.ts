import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { ServiceProcess } from '@animal-store/test-kit/service-process';

/** Starts a program of the deployed service in its folder or its image, with pipes and only these environment variables. */
export type Run = (command: readonly string[], env: Readonly<Record<string, string>>) => ChildProcess;

export interface ProcessResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when a program has exited. */
export async function waitForExit(child: ChildProcess): Promise<ProcessResult> {
  const output = Promise.all([child.stdout, child.stderr].map(async (stream) => (stream ? text(stream) : '')));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const [stdout = '', stderr = ''] = await output;
  return { exitCode, stdout, stderr };
}

/** Sends a request to the service, and returns the status and the text of the response. */
export async function request(
  { url }: ServiceProcess,
  path: string,
  init: { key?: string; body?: unknown } = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(new URL(path, url), {
    headers: {
      ...(init.key && { authorization: `Bearer ${init.key}` }),
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(init.body !== undefined && { method: 'POST', body: JSON.stringify(init.body) }),
  });
  return { status: response.status, text: await response.text() };
}
