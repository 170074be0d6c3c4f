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

/** Inserts a line into the sorted lines that match `among`, or at the end of the text if none matches. */
export function addLine(text: string, line: string, among: RegExp): string {
  const lines = text.split('\n');
  const matching = lines.flatMap((other, index) => (among.test(other) ? [index] : []));
  const before = matching.find((index) => (lines[index] ?? '') > line) ?? (matching.at(-1) ?? lines.length - 2) + 1;
  return [...lines.slice(0, before), line, ...lines.slice(before)].join('\n');
}

/** Returns the contexts of the workspace: the folders of libs/ with a domain. */
export function contextsOf(tree: Tree): string[] {
  return tree.children('libs').filter((name) => tree.exists(`libs/${name}/domain/package.json`));
}

/** @throws Error that lists the contexts */
export function assertContext(tree: Tree, context: string): void {
  const contexts = contextsOf(tree);
  if (!contexts.includes(context)) throw new Error(`unknown context "${context}"; must be one of ${contexts.join(', ')}`);
}
