import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const RELATIVE = /^\.{1,2}\/.*\.js$/;
const PACKAGES = /[\\/]node_modules[\\/]/;

/** The files of bundled packages by specifier. Before the global set-up, there are none. */
const { JEST_PACKAGES } = process.env;
const BUNDLES = JEST_PACKAGES === undefined ? {} : JSON.parse(readFileSync(join(JEST_PACKAGES, 'index.json'), 'utf8'));

/**
 * Resolves packages to their bundles where ES modules import them, and `./file.js` to `./file.ts`, which `moduleNameMapper` would do again for each spec file: Jest only
 * keeps what a resolver returns.
 * https://jestjs.io/docs/configuration#resolver-string
 */
export function sync(path, options) {
  if (Object.hasOwn(BUNDLES, path) && options.conditions.includes('import')) return BUNDLES[path];
  if (RELATIVE.test(path) && !PACKAGES.test(options.basedir)) {
    const source = join(options.basedir, path.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return options.defaultResolver(path, options);
}
