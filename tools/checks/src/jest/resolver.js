import { existsSync } from 'node:fs';
import { join } from 'node:path';

const RELATIVE = /^\.{1,2}\/.*\.js$/;
const PACKAGES = /[\\/]node_modules[\\/]/;

/**
 * Resolves `./file.js` to `./file.ts`, which `moduleNameMapper` would do again for each spec file: Jest only keeps what a resolver returns.
 * https://jestjs.io/docs/configuration#resolver-string
 */
export function sync(path, options) {
  if (RELATIVE.test(path) && !PACKAGES.test(options.basedir)) {
    const source = join(options.basedir, path.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return options.defaultResolver(path, options);
}
