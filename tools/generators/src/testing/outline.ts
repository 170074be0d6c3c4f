import ts from 'typescript';

/** What others see of a module, sorted: its exports with members and decorators, what it provides, which suites it runs. */
export function outlineOf(source: string): readonly string[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const lines = file.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return exportedNames(statement).map((name) => `export ${name}`);
    if (ts.isExpressionStatement(statement)) return suitesOf(statement.expression);
    if (!ts.canHaveModifiers(statement) || !isPublic(statement)) return [];
    if (ts.isClassDeclaration(statement)) return outlineOfClass(statement);
    if (ts.isInterfaceDeclaration(statement)) return membersOf(statement, nameOf(statement));
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map((declaration) => `const ${nameOf(declaration)}`);
    if (ts.isFunctionDeclaration(statement)) return [`function ${nameOf(statement)}`];
    return [];
  });
  return [...new Set(lines)].sort();
}

function exportedNames({ exportClause }: ts.ExportDeclaration): string[] {
  return exportClause && ts.isNamedExports(exportClause) ? exportClause.elements.map(({ name }) => name.text) : [];
}

function outlineOfClass(declaration: ts.ClassDeclaration): string[] {
  const name = nameOf(declaration);
  const heritage = (declaration.heritageClauses ?? []).map((clause) => `${name} ${clause.getText()}`);
  return [...decoratorsOf(declaration, name), ...heritage, ...membersOf(declaration, name), ...providersOf(declaration)];
}

function membersOf(declaration: ts.ClassDeclaration | ts.InterfaceDeclaration, owner: string): string[] {
  return [...declaration.members].filter(isPublic).flatMap((member) => {
    const name = `${owner}.${nameOf(member)}`;
    return [name, ...(ts.canHaveDecorators(member) ? decoratorsOf(member, name) : [])];
  });
}

function decoratorsOf(node: ts.HasDecorators, on: string): string[] {
  return (ts.getDecorators(node) ?? []).map(({ expression }) => {
    const callee = ts.isCallExpression(expression) ? expression.expression : expression;
    return `@${callee.getText()} ${on}`;
  });
}

/** The tokens of a Nest module. */
function providersOf(node: ts.Node): string[] {
  const provided = ts.isPropertyAssignment(node) && nameOf(node) === 'provide' ? [`provide ${node.initializer.getText()}`] : [];
  ts.forEachChild(node, (child) => void provided.push(...providersOf(child)));
  return provided;
}

/** A suite by the name of its function; one with a title is prose. */
function suitesOf(expression: ts.Expression): string[] {
  if (!ts.isCallExpression(expression) || !ts.isIdentifier(expression.expression)) return [];
  const { text } = expression.expression;
  return text === 'describe' || text === 'it' ? [] : [`${text}()`];
}

function isPublic(node: ts.Node & { readonly modifiers?: ts.NodeArray<ts.ModifierLike> }): boolean {
  const kinds = (node.modifiers ?? []).map(({ kind }) => kind);
  const isOfModule = ts.isSourceFile(node.parent);
  return isOfModule ? kinds.includes(ts.SyntaxKind.ExportKeyword) : !kinds.includes(ts.SyntaxKind.PrivateKeyword);
}

function nameOf({ name }: { readonly name?: ts.Node | undefined }): string {
  return name?.getText() ?? 'constructor';
}
