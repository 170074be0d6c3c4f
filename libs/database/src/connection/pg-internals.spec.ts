import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';

/** After an update, compare pg-internals.ts with the new code, then change the version here. */
it.each([
  ['pg', '8.23.1'],
  ['pg-pool', '3.14.0'],
])('the inside of %s is that of the version %s', (name, version) => {
  const ofPg = createRequire(createRequire(import.meta.url).resolve('pg'));
  const manifest = `${ofPg.resolve(name).split(`/node_modules/${name}/`)[0] ?? ''}/node_modules/${name}/package.json`;
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ version });
});
