import ts from 'typescript';

/**
 * A line of an outline. `shape` is what all contexts share: classes with their bases, decorators, static members and providers.
 * `member` is a method, a parameter of a constructor or a provided use case: a context may have more of them than the template.
 * `suite` is a suite of tests. `value` is what depends on fields: properties, types, functions and constants.
 */
interface Line {
  readonly kind: 'shape' | 'member' | 'suite' | 'value';
  readonly text: string;
  /** The name of a `member`: of the method, the parameter or the use case. */
  readonly name?: string;
}

/** Paths and sources of TypeScript files. */
export type Sources = ReadonlyMap<string, string>;

/** Files of the templates to which a context adds classes: its use cases, and what their routes receive and return. */
const OWN_CLASSES = /\/application\/src\/|\.(?:dto|query)\.ts$/;

/** What a module may declare that the template does not. */
const OPTIONAL_DECLARATION = /Module\.(?:jobs|subscriptions)$/;

/** The port in `InMemoryPets implements PetArchive` and in a provider. */
const PORT = / (?:implements|providers \{ provide:) (\w+)/;

/** Decorator of a deprecated member. It does not change the shape. */
const DEPRECATION = 'Deprecated';

/**
 * Returns the differences between the generated files of a context and the model context:
 * - every file and every line of a template must be in the model,
 * - every `shape` line of the model, and every `member` and suite whose class or method the templates also have, must be in the template
 *   of its file, except those of ports, adapters and use cases that only the model has.
 */
export function differences(templates: Sources, model: Sources): string[] {
  const modelOutlines = new Map([...model].map(([path, source]) => [path, outlineOf(source)]));
  const shape = namesIn([...templates.values()].flatMap(outlineOf));
  /** `describe isPetName` tests a value. */
  const isAboutValue = (suite: string) => suite.startsWith('describe ') && !shape.has(suite.slice('describe '.length));
  const isExportOf = (text: string) => text.startsWith('export ') && shape.has(text.slice('export '.length));
  const missingInModel = [...templates].flatMap(([path, source]) => {
    const known = texts(modelOutlines.get(path));
    return outlineOf(source).flatMap(({ text }) => (known.has(text) ? [] : [`only in the template of ${path}: ${text}`]));
  });
  const missingInTemplates = [...modelOutlines].flatMap(([path, lines]) => {
    const template = templates.get(path);
    const known = texts(template === undefined ? [] : outlineOf(template));
    const mayHaveOwnClasses = template === undefined || OWN_CLASSES.test(path);
    const isOwn = (text: string) => {
      const [, port] = PORT.exec(text) ?? [];
      if (OPTIONAL_DECLARATION.test(text) || (port !== undefined && !shape.has(port))) return true;
      return mayHaveOwnClasses && !shape.has(classOf(text));
    };
    const isRequired = ({ kind, text, name }: Line) =>
      (kind === 'shape' && !isOwn(text)) ||
      (kind === 'member' && shape.has(name ?? '')) ||
      (template !== undefined && kind === 'suite' && !isAboutValue(text)) ||
      isExportOf(text);
    return lines.flatMap((line) => (isRequired(line) && !known.has(line.text) ? [`only in ${path}: ${line.text}`] : []));
  });
  return [
    ...[...templates.keys()].filter((path) => !model.has(path)).map((path) => `no file ${path}`),
    ...missingInModel,
    ...missingInTemplates,
  ];
}

const texts = (lines: readonly Line[] = []) => new Set(lines.map(({ text }) => text));

/** Returns the class of a `shape` line: `Pet` of `class Pet`, of `Pet extends Base` and of `@Entity() Pet`. */
function classOf(text: string): string {
  return /^(?:class |@.* )?(\w+)/.exec(text)?.[1] ?? '';
}

/** Returns the names of classes and methods: `Pet`, `NewPet.create`, `addOnce`. */
function namesIn(lines: readonly Line[]): ReadonlySet<string> {
  const members = lines.flatMap(({ kind, text, name }) =>
    kind === 'shape' ? (/^(?:class )?(\w+(?:\.\w+)?)/.exec(text)?.[1] ?? []) : kind === 'member' && name !== undefined ? name : [],
  );
  return new Set(members.flatMap((name) => [name, name.split('.').at(-1) ?? '']));
}

const outlines = new Map<string, readonly Line[]>();

/** Returns the outline of a module: its exports, and the suites of a spec. Cached, because parsing is slow. */
function outlineOf(source: string): readonly Line[] {
  const known = outlines.get(source) ?? parseOutline(source);
  outlines.set(source, known);
  return known;
}

function parseOutline(source: string): Line[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return values(exportedNames(statement).map((name) => `export ${name}`));
    if (ts.isExpressionStatement(statement) && ts.isCallExpression(statement.expression)) return suitesOf(statement);
    if (!ts.canHaveModifiers(statement) || !isExported(statement)) return [];
    if (ts.isClassDeclaration(statement)) return outlineOfClass(statement);
    if (ts.isInterfaceDeclaration(statement)) return statement.members.flatMap((member) => outlineOfMember(member, nameOf(statement)));
    if (ts.isFunctionDeclaration(statement))
      return [...values([`function ${nameOf(statement)}${signatureOf(statement)}`]), ...suitesOf(statement)];
    if (ts.isVariableStatement(statement))
      return values(statement.declarationList.declarations.map((declaration) => `const ${nameOf(declaration)}`));
    return [];
  });
}

const values = (lines: readonly string[]): Line[] => lines.map((text) => ({ kind: 'value', text }));
const shapes = (lines: readonly string[]): Line[] => lines.map((text) => ({ kind: 'shape', text }));
const members = (lines: readonly (readonly [text: string, name: string])[]): Line[] =>
  lines.map(([text, name]) => ({ kind: 'member', text, name }));

function exportedNames({ exportClause }: ts.ExportDeclaration): string[] {
  return exportClause && ts.isNamedExports(exportClause) ? exportClause.elements.map(({ name }) => name.text) : [];
}

function outlineOfClass(declaration: ts.ClassDeclaration): Line[] {
  const name = nameOf(declaration);
  const bases = (declaration.heritageClauses ?? []).flatMap(({ token, types }) =>
    types.map(({ expression }) => `${name} ${ts.tokenToString(token) ?? ''} ${calleeOf(expression)}`),
  );
  return [
    ...shapes([`class ${name}`, ...decoratorsOf(declaration, name), ...bases]),
    ...elementsOf(declaration, name),
    ...declaration.members.flatMap((member) => outlineOfMember(member, name)),
  ];
}

function outlineOfMember(member: ts.ClassElement | ts.TypeElement, owner: string): Line[] {
  const modifiers = (ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : []).map(({ kind }) => kind);
  if (modifiers.includes(ts.SyntaxKind.PrivateKeyword)) return [];
  const name = `${owner}.${nameOf(member)}`;
  const isField = (ts.isPropertyDeclaration(member) && !modifiers.includes(ts.SyntaxKind.StaticKeyword)) || ts.isPropertySignature(member);
  const decorators = ts.canHaveDecorators(member) ? decoratorsOf(member, name) : [];
  if (isField) return values([name, ...decorators]);
  if (ts.isConstructorDeclaration(member)) return members(typesOf(member).map((type) => [`${name}(${type})`, `${name}(${type})`]));
  if (ts.isFunctionLike(member)) return members([name + signatureOf(member), ...decorators].map((text) => [text, name]));
  return shapes([name, ...decorators]);
}

/** Returns the types of the parameters, with their decorators, and of the result. */
function signatureOf(declaration: ts.SignatureDeclaration): string {
  return `(${typesOf(declaration).join(', ')})${declaration.type ? `: ${textOf(declaration.type)}` : ''}`;
}

function typesOf({ parameters }: ts.SignatureDeclaration): string[] {
  return parameters.map((parameter) => {
    const optional = (parameter.questionToken ?? parameter.initializer) ? '?' : '';
    const decorators = (ts.getDecorators(parameter) ?? []).map(textOfDecorator);
    return [...decorators, (parameter.type ? textOf(parameter.type) : 'any') + optional].join(' ');
  });
}

function decoratorsOf(node: ts.HasDecorators, on: string): string[] {
  const decorators = (ts.getDecorators(node) ?? []).filter(({ expression }) => calleeOf(expression) !== DEPRECATION);
  return decorators.map((decorator) => `${textOfDecorator(decorator)} ${on}`);
}

/** Returns a decorator without the objects in its arguments, most of which are descriptions. */
function textOfDecorator({ expression }: ts.Decorator): string {
  const args = ts.isCallExpression(expression) ? expression.arguments : [];
  return `@${calleeOf(expression)}(${args.map((arg) => (ts.isObjectLiteralExpression(arg) ? '{}' : textOf(arg))).join(', ')})`;
}

/** Returns the array elements in the decorators of a class: `PetsModule providers provideUseCase(GetPet, PetReader)`. */
function elementsOf(declaration: ts.ClassDeclaration, owner: string): Line[] {
  const objects = (ts.getDecorators(declaration) ?? []).flatMap(({ expression }) =>
    ts.isCallExpression(expression) ? expression.arguments.filter(ts.isObjectLiteralExpression) : [],
  );
  const properties = objects.flatMap((object) => object.properties.filter(ts.isPropertyAssignment));
  return properties.flatMap(({ name, initializer }) => {
    if (!ts.isArrayLiteralExpression(initializer)) return [];
    return initializer.elements.flatMap((element) => {
      const text = `${owner} ${name.getText()} ${textOf(element)}`;
      const [, useCase] = /provideUseCase\((\w+)/.exec(text) ?? [];
      return useCase === undefined ? shapes([text]) : members([[text, useCase]]);
    });
  });
}

/** Returns the suites that a function runs, and each `describe` whose title is a name in the code. Other titles are prose. */
function suitesOf(node: ts.Node): Line[] {
  const lines: Line[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isCallExpression(child) && ts.isIdentifier(child.expression)) {
      const [title] = child.arguments;
      const { text } = child.expression;
      if (/^describe[A-Z]/.test(text)) lines.push({ kind: 'suite', text: `${text}()` });
      if (text === 'describe' && title && ts.isStringLiteral(title) && /^[\w.]+$/.test(title.text))
        lines.push({ kind: 'suite', text: `describe ${title.text}` });
    }
    ts.forEachChild(child, visit);
  };
  visit(node);
  return lines;
}

function isExported(statement: ts.HasModifiers): boolean {
  return (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function calleeOf(expression: ts.Expression): string {
  return textOf(ts.isCallExpression(expression) ? expression.expression : expression);
}

/** Returns the code on one line. */
function textOf(node: ts.Node): string {
  return node
    .getText()
    .replace(/\s+/g, ' ')
    .replace(/,? ([}\])])/g, ' $1')
    .replace(/\( /g, '(');
}

function nameOf({ name }: { readonly name?: ts.Node | undefined }): string {
  return name?.getText() ?? 'constructor';
}
