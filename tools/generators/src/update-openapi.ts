import { execSync } from 'node:child_process';
import type { Tree } from '@nx/devkit';

/** Updates the OpenAPI document and the types of the client, once the files are written. Prints the output only if it fails. */
export function updateOpenApi(tree: Tree): void {
  try {
    execSync('npx nx openapi api --outputStyle=static', { cwd: tree.root, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: Buffer; readonly stderr?: Buffer };
    process.stderr.write(`${String(stdout ?? '')}${String(stderr ?? '')}`);
    throw new Error('`npx nx openapi api` failed. The files are written; fix the error above and run it again.', { cause: error });
  }
}
