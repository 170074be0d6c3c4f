import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const WORKSPACE = join(import.meta.dirname, '../../../..');

export const dockerfile = readFileSync(join(WORKSPACE, 'Dockerfile'), 'utf8');

/** The base image of all stages, such as `node:26.10.0-trixie-slim`. */
export const nodeImage = find(/^ARG NODE_IMAGE=(\S+)$/m);
export const healthCheck = JSON.parse(find(/^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m)) as readonly string[];
export const command = JSON.parse(find(/^CMD (\[.*\])$/m)) as readonly string[];

function find(pattern: RegExp): string {
  const [, found] = pattern.exec(dockerfile) ?? [];
  if (found === undefined) throw new Error(`The Dockerfile does not match ${String(pattern)}`);
  return found;
}
