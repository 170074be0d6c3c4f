import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Dockerfile {
  /** What all stages start from, such as `node:26.10.0-trixie-slim`. */
  readonly nodeImage: string;
  readonly healthCheck: readonly string[];
  readonly command: readonly string[];
}

/** What the Dockerfile says in its exec forms. */
export async function readDockerfile(workspaceFolder: string): Promise<Dockerfile> {
  const text = await readFile(join(workspaceFolder, 'Dockerfile'), 'utf8');
  const find = (pattern: RegExp) => {
    const [, found] = pattern.exec(text) ?? [];
    if (found === undefined) throw new Error(`The Dockerfile has nothing like ${String(pattern)}`);
    return found;
  };
  return {
    nodeImage: find(/^ARG NODE_IMAGE=(\S+)$/m),
    healthCheck: JSON.parse(find(/^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m)) as string[],
    command: JSON.parse(find(/^CMD (\[.*\])$/m)) as string[],
  };
}
