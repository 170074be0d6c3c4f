import type { Tree } from '@nx/devkit';

/** @throws Error if the file does not exist */
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
