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

/** Adds an export of these names, in the order of the modules. Inserts it between statements, which may have several lines. */
export function addExport(source: string, names: string, from: string): string {
  const statement = `export { ${names} } from '${from}';\n`;
  const others = parse(source).statements.filter(ts.isExportDeclaration);
  const moduleName = ({ moduleSpecifier }: ts.ExportDeclaration) => (moduleSpecifier as ts.StringLiteral | undefined)?.text ?? '';
  const next = others.find((other) => compare(moduleName(other), from) > 0);
  return next ? insertAt(source, next.getStart(), statement) : `${source.trimEnd()}\n${statement}`;
}

/** Adds an element to the array of the first property or variable with this name. */
export function addToArray(source: string, property: string, element: string): string {
  let array: ts.ArrayLiteralExpression | undefined;
  const visit = (node: ts.Node): void => {
    if (array) return;
    const isOwner = (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) && node.name.getText() === property;
    if (isOwner && node.initializer && ts.isArrayLiteralExpression(node.initializer)) {
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

/** Adds a property to the object that is the value of the variable or property `owner`. */
export function addProperty(source: string, owner: string, property: string): string {
  let object: ts.ObjectLiteralExpression | undefined;
  const visit = (node: ts.Node): void => {
    const isOwner = (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) && node.name.getText() === owner;
    const value = isOwner && node.initializer && withoutTypes(node.initializer);
    if (value && ts.isObjectLiteralExpression(value)) object ??= value;
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  if (!object) throw new Error(`there is no object ${owner} to add "${property}" to`);
  const last = object.properties.at(-1);
  return last ? insertAt(source, last.getEnd(), `,\n${property}`) : insertAt(source, object.getStart() + 1, property);
}

/** Returns the expression before `as const`, `as Type` or `satisfies Type`. */
function withoutTypes(node: ts.Expression): ts.Expression {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? withoutTypes(node.expression) : node;
}

/** Adds a member of another class to a class. Its constructor creates the member from its first parameter. */
export function addMember(source: string, owner: string, name: string, type: string): string {
  const found = parse(source).statements.find((statement) => ts.isClassDeclaration(statement) && statement.name?.text === owner);
  const constructor = (found as ts.ClassDeclaration | undefined)?.members.find(ts.isConstructorDeclaration);
  const parameter = constructor?.parameters[0]?.name.getText();
  if (!constructor?.body || parameter === undefined) throw new Error(`there is no class ${owner} with a constructor to add ${name} to`);
  const assigned = insertAt(source, constructor.body.getEnd() - 1, `this.${name} = new ${type}(${parameter});\n`);
  return insertAt(assigned, constructor.getStart(), `readonly ${name}: ${type};\n\n`);
}

/** Inserts a line into the sorted lines that match `among`, or at the end of the text if none matches. */
export function addLine(text: string, line: string, among: RegExp): string {
  const lines = text.split('\n');
  const matching = lines.flatMap((other, index) => (among.test(other) ? [index] : []));
  const before = matching.find((index) => (lines[index] ?? '') > line) ?? (matching.at(-1) ?? lines.length - 2) + 1;
  return [...lines.slice(0, before), line, ...lines.slice(before)].join('\n');
}

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
