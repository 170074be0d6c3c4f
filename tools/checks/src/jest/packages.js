import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const WORKSPACE = join(import.meta.dirname, '../../../..');
const IMPORT = /^(?:import|export) (?!type )[^;]*?'([^.'][^']*)'|\bimport\('([^.'][^']*)'\)/gm;
const PACKAGE = /^(?:@[^/]+\/)?[^/]+/;

/**
 * Bundles the dependencies of the service, because Jest evaluates each module again for each spec file: 70 files replace 3,000. Returns
 * the folder, where `index.json` has the file of each specifier that the sources import.
 * @returns {Promise<string>}
 */
export async function bundlePackages() {
  const lock = readFileSync(join(WORKSPACE, 'package-lock.json'), 'utf8');
  const specifiers = importedSpecifiers(Object.keys(JSON.parse(lock).packages[''].dependencies));
  const key = createHash('sha256')
    .update(lock)
    .update(specifiers.join())
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 16);
  const folder = join(WORKSPACE, '.nx/jest-packages', key);
  if (existsSync(folder)) return folder;

  const nameOf = (specifier) => specifier.replaceAll(/\W/g, '_');
  const entries = new Map();
  for (const specifier of specifiers) {
    // The names that Node.js finds in a CommonJS package.
    const names = Object.keys(await import(specifier)).filter((name) => name !== 'module.exports' && name !== '__esModule');
    entries.set(join(WORKSPACE, nameOf(specifier)), `import '${specifier}';\nexport { ${names.join()} } from '${specifier}';\n`);
  }
  const bundle = await rolldown({
    cwd: WORKSPACE,
    input: [...entries.keys()],
    platform: 'node',
    treeshake: false,
    plugins: [
      { name: 'entries', resolveId: (id) => (entries.has(id) ? id : undefined), load: (id) => entries.get(id) },
      {
        // As in the deployed bundle: the bundler must see this `require` of class-validator.
        name: 'mapped-types',
        transform: {
          filter: { id: /@nestjs\/mapped-types\// },
          handler: (code) => code.replace('const require = createRequire(import.meta.url);', ''),
        },
      },
    ],
    // Optional packages that are not installed.
    onLog: () => undefined,
  });
  const unfinished = `${folder}.${process.pid}`;
  await bundle.write({
    dir: unfinished,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunk-[name].js',
    keepNames: true,
    strictExecutionOrder: true,
  });
  const files = specifiers.map((specifier) => [specifier, join(folder, `${nameOf(specifier)}.js`)]);
  await writeFile(join(unfinished, 'index.json'), JSON.stringify(Object.fromEntries(files)));
  await writeFile(join(unfinished, 'package.json'), '{"type":"module"}');
  // Another run may have been faster.
  await rename(unfinished, folder).catch(() => undefined);
  return folder;
}

function importedSpecifiers(dependencies) {
  const exclude = (name) => name === 'node_modules' || name === 'dist';
  const sources = globSync('{apps,libs,examples}/**/src/**/*.ts', { cwd: WORKSPACE, exclude });
  const specifiers = new Set();
  for (const source of sources)
    for (const [, name, lazy] of readFileSync(join(WORKSPACE, source), 'utf8').matchAll(IMPORT)) specifiers.add(name ?? lazy);
  return [...specifiers].filter((specifier) => dependencies.includes(PACKAGE.exec(specifier)?.[0])).sort();
}
