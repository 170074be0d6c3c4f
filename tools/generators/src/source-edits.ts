import ts from 'typescript';

/** Adds a name to the import from a module, in alphabetical order. Adds the import if there is none. */
export function addImport(source: string, name: string, from: string): string {
  const imports = parse(source).statements.filter(ts.isImportDeclaration);
  const bindings = imports.find((statement) => moduleOf(statement) === from)?.importClause?.namedBindings;
  if (bindings && ts.isNamedImports(bindings)) {
    const { elements } = bindings;
    if (elements.some((element) => element.name.text === name)) return source;
    const next = elements.find((element) => compare(element.name.text, name) > 0);
    if (next) return insertAt(source, next.getStart(), `${name}, `);
    return insertAt(source, elements.at(-1)?.getEnd() ?? elements.pos, elements.length > 0 ? `, ${name}` : name);
  }
  const next = imports.find((statement) => compare(sortKey(moduleOf(statement)), sortKey(from)) > 0);
  const position = next?.getStart() ?? (imports.at(-1)?.getEnd() ?? -1) + 1;
  return insertAt(source, position, `import { ${name} } from '${from}';\n`);
}

const moduleOf = ({ moduleSpecifier }: ts.ImportDeclaration) => (moduleSpecifier as ts.StringLiteral).text;
/** Files of the library come after packages. */
const sortKey = (module: string) => `${String(module.startsWith('.'))} ${module}`;
const compare = (one: string, other: string) => one.localeCompare(other, 'en');

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

/** Inserts a line into the sorted lines that match `among`, or at the end of the text if none matches. */
export function addLine(text: string, line: string, among: RegExp): string {
  const lines = text.split('\n');
  const matching = lines.flatMap((other, index) => (among.test(other) ? [index] : []));
  const before = matching.find((index) => (lines[index] ?? '') > line) ?? (matching.at(-1) ?? lines.length - 2) + 1;
  return [...lines.slice(0, before), line, ...lines.slice(before)].join('\n');
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
