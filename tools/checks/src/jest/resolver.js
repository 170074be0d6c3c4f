import { existsSync } from 'node:fs';
import { join } from 'node:path';

const RELATIVE = /^\.{1,2}\/.*\.js$/;
const PACKAGES = /[\\/]node_modules[\\/]/;

const bundled = (path) => join(import.meta.dirname, '../../../../node_modules', path);
/** Each spec file evaluates every module again. Bundles of the same releases replace hundreds of small modules. */
const BUNDLES = {
  'class-validator': bundled('class-validator/bundles/class-validator.umd.js'),
  'es-toolkit/compat': join(import.meta.dirname, 'es-toolkit.js'),
  rxjs: bundled('rxjs/dist/bundles/rxjs.umd.js'),
  'rxjs/operators': bundled('rxjs/dist/bundles/rxjs.umd.js'),
};

/**
 * Resolves packages to their bundles, and `./file.js` to `./file.ts`, which `moduleNameMapper` would do again for each spec file: Jest only
 * keeps what a resolver returns.
 * https://jestjs.io/docs/configuration#resolver-string
 */
export function sync(path, options) {
  if (Object.hasOwn(BUNDLES, path)) return BUNDLES[path];
  if (RELATIVE.test(path) && !PACKAGES.test(options.basedir)) {
    const source = join(options.basedir, path.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return options.defaultResolver(path, options);
}
