import ts from 'typescript';

/** Adds a name to the import from a module. Adds the import if there is none. */
export function addImport(source: string, name: string, from: string): string {
  const file = parse(source);
  const found = file.statements.find(
    (statement) => ts.isImportDeclaration(statement) && (statement.moduleSpecifier as ts.StringLiteral).text === from,
  ) as ts.ImportDeclaration | undefined;
  const bindings = found?.importClause?.namedBindings;
  if (!bindings || !ts.isNamedImports(bindings)) return `import { ${name} } from '${from}';\n${source}`;
  if (bindings.elements.some((element) => element.name.text === name)) return source;
  return insertAt(source, bindings.elements.end, `, ${name}`);
}

/** Adds an element to the array of the first property with this name. */
export function addToArray(source: string, property: string, element: string): string {
  let array: ts.ArrayLiteralExpression | undefined;
  const visit = (node: ts.Node): void => {
    if (array) return;
    if (ts.isPropertyAssignment(node) && node.name.getText() === property && ts.isArrayLiteralExpression(node.initializer)) {
      array = node.initializer;
    } else {
      ts.forEachChild(node, visit);
    }
  };
  visit(parse(source));
  if (!array) throw new Error(`there is no array ${property} to add ${element} to`);
  const { elements } = array;
  if (elements.length === 0) return insertAt(source, array.getStart() + 1, element);
  return insertAt(source, (elements.at(-1) as ts.Expression).getEnd(), `, ${element}`);
}

/** Returns the names that an index exports. */
export function exportsOf(source: string): readonly string[] {
  return parse(source).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : [],
  );
}

function parse(source: string): ts.SourceFile {
  return ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
}

function insertAt(source: string, position: number, text: string): string {
  return source.slice(0, position) + text + source.slice(position);
}
