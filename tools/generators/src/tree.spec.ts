import { expect, it } from '@jest/globals';
import { FsTree } from 'nx/src/generators/tree.js';
import { addLine, assertContext, contextsOf, editFile, readText } from './tree.js';

const tree = () => {
  const created = new FsTree('/nowhere', false);
  created.write('libs/pets/domain/package.json', '{}');
  created.write('libs/kernel/package.json', '{}');
  return created;
};

it('reads and edits files, and reports a missing one', () => {
  const files = tree();
  files.write('a.txt', 'a');
  editFile(files, 'a.txt', (text) => `${text}b`);
  expect(readText(files, 'a.txt')).toBe('ab');
  expect(() => readText(files, 'b.txt')).toThrow('b.txt is missing');
});

it('finds contexts by their domain, and lists them in the error for an unknown one', () => {
  expect(contextsOf(tree())).toEqual(['pets']);
  expect(() => assertContext(tree(), 'pets')).not.toThrow();
  expect(() => assertContext(tree(), 'kernel')).toThrow('unknown context "kernel"; must be one of pets');
});

it.each([
  ['between two others', 'head\n- a\n- c\nfoot\n', 'head\n- a\n- b\n- c\nfoot\n'],
  ['after the last one', 'head\n- a\nfoot\n', 'head\n- a\n- b\nfoot\n'],
  ['at the end of a text without matching lines', 'head\n', 'head\n- b\n'],
])('adds a line %s', (_, before, after) => {
  expect(addLine(before, '- b', /^- /)).toBe(after);
});
