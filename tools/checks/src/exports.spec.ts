import { expect, it } from '@jest/globals';
import { readProjects, readText, workspaceFiles } from './workspace.js';

const DECLARATION = /^export (?:abstract )?(?:async )?(?:const|class|function\*?) (\w+)/gm;
const LIST = /^export \{([^}]*)\}/gm;

const code = workspaceFiles().filter((file) => /\.(?:ts|mjs|template|json)$/.test(file));
const sources = code.filter((file) => file.endsWith('.ts') && file.includes('/src/'));
const roots = readProjects().map(({ root }) => `${root}/`);
const wordsOf = new Map(code.map((file) => [file, new Set(readText(file).match(/\w+/g))]));

const isUsed = (name: string, by: (file: string) => boolean) => code.some((file) => by(file) && wordsOf.get(file)?.has(name));

it('what a file exports, types apart, another file uses', () => {
  const unused = sources.flatMap((source) =>
    [...readText(source).matchAll(DECLARATION)]
      .map(([, name = '']) => name)
      .filter((name) => !isUsed(name, (file) => file !== source))
      .map((name) => `${source}: ${name}`),
  );
  expect(unused).toEqual([]);
});

it('what the index of a library exports, types apart, another project uses', () => {
  const unused = sources
    .filter((source) => source.endsWith('/index.ts'))
    .flatMap((index) => {
      const root = roots.find((folder) => index.startsWith(folder)) ?? '';
      return [...readText(index).matchAll(LIST)]
        .flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
        .filter((name) => name !== '' && !name.startsWith('type '))
        .filter((name) => !isUsed(name, (file) => !file.startsWith(root)))
        .map((name) => `${index}: ${name}`);
    });
  expect(unused).toEqual([]);
});
