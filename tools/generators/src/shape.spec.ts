import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTree } from '@nx/devkit/testing';
import { describe, expect, it } from 'vitest';
import { makeLibraries } from './context/context.generator.js';
import { namesOfContext } from './names.js';
import { outlineOf } from './testing/outline.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));

/** What `pets` has and a new context begins without: two more fields, idempotency keys, cursors, shared statements, pages as text, an end. */
const OF_PETS_ALONE = new RegExp(
  [
    ...['status', 'category', 'int64_rule'],
    ...['idempoten', 'createdpet', 'keyedpet', 'once', 'forget', 'replay', 'equals', '@throws petscontroller.createpet'],
    ...['cursor', 'grouped', 'shared', 'addall', 'findall', 'listall'],
    // Statements that a spec looks at the plans of.
    '^const (?:add|find|forget|list)_',
    ...['max_page_length', 'json-of-pets', 'petsof'],
    ...['query-plans', 'linearizability', 'testing/history', 'deprecated'],
  ].join('|'),
  'i',
);
/** What stands in its place. */
const INSTEAD = /ListPetsQuery\.after$|petPage$/;
/** Files whose text is that of pets. */
const ALIKE = /\/(?:package|tsconfig|tsconfig\.spec)\.json$/;

/** The context that the generator makes of the name that pets has. */
const tree = createTree();
makeLibraries(tree, namesOfContext('pets'));
const generated = new Map(
  tree
    .listChanges()
    .filter(({ path }) => path.startsWith('libs/'))
    .map(({ path, content }) => [path, content?.toString('utf8') ?? '']),
);
const pets = new Map(
  readdirSync(join(WORKSPACE, 'libs/pets'), { recursive: true, encoding: 'utf8' })
    .map((path) => `libs/pets/${path.replaceAll('\\', '/')}`)
    .filter((path) => /^libs\/pets\/\w+\/(?:src\/.*\.ts|[\w.]+\.(?:json|md))$/.test(path))
    .map((path) => [path, readFileSync(join(WORKSPACE, path), 'utf8')]),
);

const linesOf = (readme = '') => readme.split('\n').filter((line) => /^(?:#|- )/.test(line));
const referencesOf = (config = '{}') =>
  (JSON.parse(config) as { references?: { path: string }[] }).references?.map(({ path }) => path).sort() ?? [];
const withoutTime = (path: string) => path.replace(/\/[0-9]{13}-/, '/');

it('the generator makes the files of pets, and no other', () => {
  const own = [...pets.keys()].map(withoutTime).filter((path) => !OF_PETS_ALONE.test(path));
  expect([...generated.keys()].map(withoutTime).sort()).toEqual(own.sort());
});

describe.each([...generated].filter(([path]) => pets.has(path)))('%s', (path, text) => {
  const ofPets = pets.get(path) ?? '';

  if (ALIKE.test(path)) it('is alike', () => expect(text).toBe(ofPets));
  else if (path.endsWith('/tsconfig.lib.json'))
    it('refers to libraries that the one of pets refers to', () =>
      expect(referencesOf(ofPets)).toEqual(expect.arrayContaining(referencesOf(text))));
  else if (path.endsWith('.md')) it('has the same heading and list', () => expect(linesOf(text)).toEqual(linesOf(ofPets)));
  else
    it('has the outline of the one of pets', () => {
      const outline = (source: string, left: RegExp) => outlineOf(source).filter((line) => !left.test(line));
      expect(outline(text, INSTEAD)).toEqual(outline(ofPets, OF_PETS_ALONE));
    });
});
