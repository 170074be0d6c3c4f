import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { FsTree } from 'nx/src/generators/tree.js';
import { generateLibraries } from './context/context.generator.js';
import { namesOfContext } from './names.js';
import { contentOf } from './testing/generated-code.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));
const tree = new FsTree('/nowhere', false);
generateLibraries(tree, namesOfContext('pets', 'pet'));
/** The name of a migration begins with the time when it was generated. */
const files = tree.listChanges().map((file) => [file.path.replace(/\/[0-9]{13}-/, '/[0-9]*-'), contentOf(file)] as const);

it('the context pets has all files that the generator writes', () => {
  expect(files.length).toBeGreaterThan(30);
  expect(files.map(([path]) => path).filter((path) => globSync(path, { cwd: WORKSPACE }).length === 0)).toEqual([
    // Most guides are about pets.
    'docs/guides/pets.md',
    'apps/api/src/contexts/pets.integration.spec.ts',
  ]);
});

it.each(files.filter(([path]) => /(?:\.json|\.js|\/README\.md)$/.test(path)))(
  'the context pets has %s like a generated one',
  (path, text) => {
    const own = readFileSync(join(WORKSPACE, path), 'utf8');
    if (path.endsWith('.md')) expect(linesOf(text)).toEqual(linesOf(own));
    else if (path.endsWith('.js')) expect(text).toBe(own);
    else expect(JSON.parse(own)).toMatchObject(withReferencesOf(JSON.parse(text) as Config, JSON.parse(own) as Config));
    if (path.endsWith('/package.json')) expect(text).toContain(/\n {2}"exports": \{\n {4}"\.": \{[^]*?\}/.exec(own)?.[0]);
  },
);

const linesOf = (readme: string) => readme.match(/^(?:# .*|- .*|\| `\w+`)/gm);

interface Config {
  readonly references?: readonly { readonly path: string }[];
}

/** Specs that only pets has may need more libraries. */
function withReferencesOf(config: Config, { references }: Config): Config {
  if (config.references) expect(references).toEqual(expect.arrayContaining([...config.references]));
  return { ...config, ...(references && { references }) };
}
