import { describe, expect, it } from '@jest/globals';
import { addImport, addLine, addToArray, exportsOf } from './source-edits.js';

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
