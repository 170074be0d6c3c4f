import { readFileSync } from 'node:fs';
import { isBuiltin, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compiledFile, WORKSPACE } from './dev-paths.js';

const workspace = pathToFileURL(`${WORKSPACE}/`).href;
const isSource = (url: string) => url.startsWith(workspace) && url.endsWith('.ts') && !url.includes('/node_modules/');

/** The URLs that sources have imported from npm packages, in order. */
export const packageImports = new Set<string>();

// Lets the service run from its sources: an import leads to `src/x.ts`, whose JavaScript `dev.ts` has made.
registerHooks({
  resolve(specifier, context, next) {
    if (!isSource(context.parentURL ?? '')) return next(specifier, context);
    const resolved = next(/^\.{1,2}\//.test(specifier) ? specifier.replace(/\.js$/, '.ts') : specifier, context);
    if (!isSource(resolved.url) && !isBuiltin(specifier)) packageImports.add(resolved.url);
    return resolved;
  },
  load(url, context, next) {
    if (!isSource(url)) return next(url, context);
    return { format: 'module', source: readFileSync(compiledFile(fileURLToPath(url))), shortCircuit: true };
  },
});
