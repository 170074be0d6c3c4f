import { describe, expect, it } from '@jest/globals';
import { addImport, addToArray, exportsOf } from './source-edits.js';

describe('addImport', () => {
  it.each([
    ['an import that has to be made', 'const x = 1;\n', "import { b } from 'm';\nconst x = 1;\n"],
    ['names that are there', "import { a } from 'm';\n", "import { a, b } from 'm';\n"],
    ['a name that is there already', "import { a, b } from 'm';\n", "import { a, b } from 'm';\n"],
    ['an import of everything', "import * as m from 'm';\n", "import { b } from 'm';\nimport * as m from 'm';\n"],
    ['an import for its effect', "import 'm';\n", "import { b } from 'm';\nimport 'm';\n"],
  ])('adds a name to %s', (_, before, after) => {
    expect(addImport(before, 'b', 'm')).toBe(after);
  });
});

describe('addToArray', () => {
  it.each([
    ['an empty array', 'f({ list: [] })', 'f({ list: [x] })'],
    ['one with elements', 'f({ other: [1], list: [a, b] })', 'f({ other: [1], list: [a, b, x] })'],
    ['the first of two', 'f({ list: [a] }, { list: [b] })', 'f({ list: [a, x] }, { list: [b] })'],
  ])('adds an element to %s', (_, before, after) => {
    expect(addToArray(before, 'list', 'x')).toBe(after);
  });

  it('reports what is missing', () => {
    expect(() => addToArray('f({ list: 1 })', 'list', 'x')).toThrow('there is no array list to add x to');
  });
});

it('exportsOf returns the named exports of an index', () => {
  expect(exportsOf("export { a, type B } from './a.js';\nexport * from './c.js';\nexport const d = 1;\nimport './e.js';\n")).toEqual([
    'a',
    'B',
  ]);
});
