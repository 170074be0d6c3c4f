import { describe, expect, it } from '@jest/globals';
import { addImport, addToArray, exportsOf } from './source-edits.js';

describe('addImport', () => {
  it.each([
    ['a file without the import', 'const x = 1;\n', "import { b } from 'm';\nconst x = 1;\n"],
    ['an existing import', "import { a } from 'm';\n", "import { a, b } from 'm';\n"],
    ['an import that already has the name', "import { a, b } from 'm';\n", "import { a, b } from 'm';\n"],
    ['a file with a namespace import', "import * as m from 'm';\n", "import { b } from 'm';\nimport * as m from 'm';\n"],
    ['a file with a side-effect import', "import 'm';\n", "import { b } from 'm';\nimport 'm';\n"],
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

it('exportsOf returns the named exports of an index', () => {
  expect(exportsOf("export { a, type B } from './a.js';\nexport * from './c.js';\nexport const d = 1;\nimport './e.js';\n")).toEqual([
    'a',
    'B',
  ]);
});
