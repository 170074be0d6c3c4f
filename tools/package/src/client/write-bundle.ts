/** The target `bundle`: writes libs/client/bundle, the client as a CommonJS module with its types. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const CLIENT = join(import.meta.dirname, '../../../../libs/client');
const BUILT = join(CLIENT, 'dist');
const BUNDLE = join(CLIENT, 'bundle');

await rm(BUNDLE, { recursive: true, force: true });
await mkdir(BUNDLE);
const bundle = await rolldown({ input: join(BUILT, 'index.js') });
await bundle.write({ file: join(BUNDLE, 'index.cjs'), format: 'cjs' });
await bundle.close();

// A declaration file of a CommonJS module cannot refer to those of ES modules.
for (const name of await readdir(BUILT)) {
  if (!name.endsWith('.d.ts') || name.endsWith('.spec.d.ts')) continue;
  const declarations = await readFile(join(BUILT, name), 'utf8');
  await writeFile(join(BUNDLE, name.replace(/\.ts$/, '.cts')), declarations.replaceAll(/'(\.\/[^']+)\.js'/g, "'$1.cjs'"));
}
