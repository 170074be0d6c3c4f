import { describe, expect, it } from '@jest/globals';
import { addExport, addImport, addLine, addMember, addProperty, addToArray, exportsOf } from './source-edits.js';

const A = "export {\n  a,\n} from './a.js';\n";
const B = "export { b } from './b.js';\n";
const C = "export {\n  c,\n} from './c.js';\n";

describe('addImport', () => {
  it.each([
    ['a file without imports', 'const x = 1;\n', "import { b } from 'm';\nconst x = 1;\n"],
    [
      'a file without the import',
      "import { z } from 'z';\nimport './a.js';\n",
      "import { b } from 'm';\nimport { z } from 'z';\nimport './a.js';\n",
    ],
    [
      'a file with imports that come first',
      "import { a } from 'a';\nconst x = 1;\n",
      "import { a } from 'a';\nimport { b } from 'm';\nconst x = 1;\n",
    ],
    ['an existing import', "import { a } from 'm';\n", "import { a, b } from 'm';\n"],
    ['an existing import, in order', "import { A, type C } from 'm';\n", "import { A, b, type C } from 'm';\n"],
    ['an existing import on several lines', "import {\n  a,\n} from 'm';\n", "import {\n  a, b,\n} from 'm';\n"],
    ['an import that already has the name', "import { a, b } from 'm';\n", "import { a, b } from 'm';\n"],
    ['a file with a namespace import', "import * as m from 'm';\n", "import * as m from 'm';\nimport { b } from 'm';\n"],
    ['a file with a side-effect import', "import 'm';\n", "import 'm';\nimport { b } from 'm';\n"],
  ])('adds a name to %s', (_, before, after) => {
    expect(addImport(before, 'b', 'm')).toBe(after);
  });
});

describe('addToArray', () => {
  it.each([
    ['an empty array', 'f({ list: [] })', 'f({ list: [x] })'],
    ['an array with elements', 'f({ other: [1], list: [a, b] })', 'f({ other: [1], list: [a, b, x] })'],
    ['the first of two arrays', 'f({ list: [a] }, { list: [b] })', 'f({ list: [a, x] }, { list: [b] })'],
  ])('adds an element to %s', (_, before, after) => {
    expect(addToArray(before, 'list', 'x')).toBe(after);
  });

  it('reports what is missing', () => {
    expect(() => addToArray('f({ list: 1 })', 'list', 'x')).toThrow('there is no array list to add x to');
  });
});

describe('addProperty', () => {
  it.each([
    ['an empty object', 'const o: T = {};', 'const o: T = {x: 1};'],
    ['an object with properties', 'const o = { a: { b: 2 }, };', 'const o = { a: { b: 2 },\nx: 1, };'],
    [
      'a member with a type',
      'class C { static readonly o = { a: 1 } as const satisfies T; }',
      'class C { static readonly o = { a: 1,\nx: 1 } as const satisfies T; }',
    ],
  ])('adds a property to %s', (_, before, after) => {
    expect(addProperty(before, 'o', 'x: 1')).toBe(after);
  });

  it('reports what is missing', () => {
    expect(() => addProperty('const o = 1;', 'o', 'x: 1')).toThrow('there is no object o to add "x: 1" to');
  });
});

describe('addMember', () => {
  it('adds a field that the constructor creates', () => {
    const source = 'class B {}\nclass A {\n  constructor(private readonly t: T) {}\n}\n';
    const expected = 'class B {}\nclass A {\n  readonly c: C;\n\nconstructor(private readonly t: T) {this.c = new C(t);\n}\n}\n';
    expect(addMember(source, 'A', 'c', 'C')).toBe(expected);
  });

  it.each(['class B {}', 'class A {}', 'class A { constructor() {} }'])('reports what is missing in %s', (source) => {
    expect(() => addMember(source, 'A', 'c', 'C')).toThrow('there is no class A with a constructor to add c to');
  });
});

it.each([
  ['between statements of several lines', A + C, A + B + C],
  ['after the last one', A, A + B],
  ['to an empty index', '', B],
])('addExport adds an export %s', (_, before, after) => {
  expect(addExport(before, 'b', './b.js').trimStart()).toBe(after);
});

it('exportsOf returns the named exports of an index', () => {
  expect(exportsOf("export { a, type B } from './a.js';\nexport * from './c.js';\nexport const d = 1;\nimport './e.js';\n")).toEqual([
    'a',
    'B',
  ]);
});

it.each([
  ['between two others', 'head\n- a\n- c\nfoot\n', 'head\n- a\n- b\n- c\nfoot\n'],
  ['after the last one', 'head\n- a\nfoot\n', 'head\n- a\n- b\nfoot\n'],
  ['at the end of a text without matching lines', 'head\n', 'head\n- b\n'],
])('adds a line %s', (_, before, after) => {
  expect(addLine(before, '- b', /^- /)).toBe(after);
});
