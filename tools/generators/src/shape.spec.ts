import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { createTree } from '@nx/devkit/testing';
import { makeLibraries } from './context/context.generator.js';
import { namesOfContext } from './names.js';
import { outlineOf } from './testing/outline.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));

/** What a new context begins with in the place of the cursors and the pages of text that pets has. */
const INSTEAD = ['ListPetsQuery.after', 'export petPage', 'function petPage'];
/** What of a member that both have is of pets alone. */
const OF_PETS_ALONE = [
  '@IdempotentByKey PetsController.createPet',
  '@Throws PetsController.createPet',
  '@Deprecated PetsController.getPet',
];
/** Files whose text is that of pets. */
const ALIKE = /\/(?:package\.json|tsconfig(?:\.spec)?\.json|jest\.config\.js)$/;

/** The context that the generator makes of the name that pets has. What pets has beyond it is the matter of its team. */
const tree = createTree();
makeLibraries(tree, namesOfContext('pets'));
const generated = tree
  .listChanges()
  .filter(({ path }) => path.startsWith('libs/'))
  .map(({ path, content }) => [withoutTime(path), content?.toString('utf8') ?? ''] as const);
const pets = new Map(
  readdirSync(join(WORKSPACE, 'libs/pets'), { recursive: true, encoding: 'utf8' })
    .map((path) => `libs/pets/${path.replaceAll('\\', '/')}`)
    .filter((path) => /^libs\/pets\/\w+\/(?:src\/.*\.ts|[\w.]+\.(?:json|js|md))$/.test(path))
    .map((path) => [withoutTime(path), readFileSync(join(WORKSPACE, path), 'utf8')]),
);

/** Migrations have the time of their making in their names. */
function withoutTime(path: string): string {
  return path.replace(/\/[0-9]{13}-/, '/');
}

const linesOf = (readme: string) => readme.split('\n').filter((line) => /^(?:#|- )/.test(line));
const referencesOf = (config: string) => (JSON.parse(config) as { references: { path: string }[] }).references.map(({ path }) => path);

it('the generator makes no file that pets does not have', () => {
  expect(generated.length).toBeGreaterThan(50);
  expect(generated.map(([path]) => path).filter((path) => !pets.has(path))).toEqual([]);
});

describe.each(generated.filter(([path]) => !path.includes('/migrations/')))('%s', (path, text) => {
  const ofPets = pets.get(path) ?? '';

  if (ALIKE.test(path)) it('is alike', () => expect(text).toBe(ofPets));
  else if (path.endsWith('/tsconfig.lib.json'))
    it('refers to no library that pets does not refer to', () =>
      expect(referencesOf(ofPets)).toEqual(expect.arrayContaining(referencesOf(text))));
  else if (path.endsWith('.md')) it('has the same heading and list', () => expect(linesOf(text)).toEqual(linesOf(ofPets)));
  else
    it('has the outline of the one of pets', () => {
      const [template, model] = [outlineOf(text), outlineOf(ofPets)];
      /** Bases, decorators of what both have, and what a module says of itself. */
      const isDemanded = (line: string) =>
        / (?:extends|implements) |^PetsModule\./.test(line) || template.includes(/^@\S+ (.+)$/.exec(line)?.[1] ?? '');
      expect({
        'only in the template': template.filter((line) => !model.includes(line) && !INSTEAD.some((name) => line.endsWith(name))),
        'only in pets': model.filter((line) => isDemanded(line) && !template.includes(line) && !OF_PETS_ALONE.includes(line)),
      }).toEqual({ 'only in the template': [], 'only in pets': [] });
    });
});
