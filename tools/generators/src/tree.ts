import { execSync } from 'node:child_process';
import type { Tree } from '@nx/devkit';

export function readText(tree: Tree, path: string): string {
  const text = tree.read(path, 'utf-8');
  if (text === null) throw new Error(`${path} is missing`);
  return text;
}

export function editFile(tree: Tree, path: string, change: (text: string) => string): void {
  tree.write(path, change(readText(tree, path)));
}

/** Requires a context of the workspace: a folder of libs/ with a domain. */
export function assertContext(tree: Tree, context: string): void {
  const contexts = tree.children('libs').filter((name) => tree.exists(`libs/${name}/domain/package.json`));
  if (!contexts.includes(context)) throw new Error(`unknown context "${context}"; must be one of ${contexts.join(', ')}`);
}

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
