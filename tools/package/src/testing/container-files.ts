import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const WORKSPACE = join(import.meta.dirname, '../../../..');

export const dockerfile = readFileSync(join(WORKSPACE, 'Dockerfile'), 'utf8');

/** The base image of all stages, such as `node:26.10.0-trixie-slim`. */
export const nodeImage = find(/^ARG NODE_IMAGE=(\S+)$/m);
export const healthCheck = JSON.parse(find(/^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m)) as readonly string[];
export const command = JSON.parse(find(/^CMD (\[.*\])$/m)) as readonly string[];

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly restart?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

/** docker-compose.yml with its anchors merged and its variables as written. */
export const compose = parse(readFileSync(join(WORKSPACE, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};

function find(pattern: RegExp): string {
  const [, found] = pattern.exec(dockerfile) ?? [];
  if (found === undefined) throw new Error(`The Dockerfile does not match ${String(pattern)}`);
  return found;
}
