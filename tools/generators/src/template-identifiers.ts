import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Letters that mark `<%= name %>` in an identifier. */
const MARKED = /ǀ(\w+)ǀ/g;

let identifiers: ReadonlySet<string> | undefined;

/** Returns the identifiers that the generated code declares or imports: those of all names, and those that contain a form of these names. */
export function templateIdentifiers(names: object): { readonly plain: readonly string[]; readonly named: readonly string[] } {
  identifiers ??= readIdentifiers();
  const all = [...identifiers];
  const forms = all.filter((identifier) => identifier.search(MARKED) >= 0);
  const values = new Map(Object.entries(names) as [string, string][]);
  const known = forms.filter((form) => [...form.matchAll(MARKED)].every(([, name = '']) => values.has(name)));
  return {
    plain: all.filter((identifier) => !forms.includes(identifier)),
    named: known.map((form) => form.replaceAll(MARKED, (_, name: string) => values.get(name) ?? '')),
  };
}

function readIdentifiers(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !isOnlyProperty(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  for (const file of globSync('*/files/**/*.ts.template', { cwd: import.meta.dirname })) {
    const template = readFileSync(join(import.meta.dirname, file), 'utf8');
    const source = template.replaceAll(/<%= (\w+) %>/g, 'ǀ$1ǀ').replaceAll(/<%= parent\.(\w+) %>/g, 'ǀparent$1ǀ');
    visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  }
  return found;
}

/** A property of another object does not conflict with a variable or class. */
const isOnlyProperty = (node: ts.Identifier) =>
  (ts.isPropertyAccessExpression(node.parent) || ts.isPropertyAssignment(node.parent)) && node.parent.name === node;
