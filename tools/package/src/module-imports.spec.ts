import { expect, it } from '@jest/globals';
import { importsOf } from './module-imports.js';

const STATIC = ['./side-effect.js', './default.js', '@animal-store/kernel', './all.js', './some.js'];
const SOURCE = `
  import './side-effect.js';
  import value from './default.js';
  import { Clock } from '@animal-store/kernel';
  export * from './all.js';
  export { one } from './some.js';
  export const text = "import './in-a-string.js'"; // import './in-a-comment.js';
  async function later(name) {
    await import('@animal-store/local-postgres').catch(() => undefined);
    return import(name);
  }
`;

it('finds every import that names its module', () => {
  expect(importsOf(SOURCE)).toEqual([
    ...STATIC.map((specifier) => ({ specifier, dynamic: false })),
    { specifier: '@animal-store/local-postgres', dynamic: true },
  ]);
});
