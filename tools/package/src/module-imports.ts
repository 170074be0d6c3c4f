import ts from 'typescript';

export interface ModuleImport {
  readonly specifier: string;
  /** `import('…')`, which may fail and be survived. */
  readonly dynamic: boolean;
}

/** What a built module names in its imports and re-exports. A computed `import()` names nothing. */
export function importsOf(source: string): ModuleImport[] {
  const found: ModuleImport[] = [];
  const add = (specifier: ts.Node | undefined, dynamic: boolean) => {
    if (specifier && ts.isStringLiteralLike(specifier)) found.push({ specifier: specifier.text, dynamic });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier, false);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('module.js', source, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS));
  return found;
}
