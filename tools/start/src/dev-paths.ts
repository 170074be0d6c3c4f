import { join, relative } from 'node:path';

export const WORKSPACE = join(import.meta.dirname, '..', '..', '..');
/** Below which the service's sources are. */
export const SOURCE_FOLDERS = ['apps/api', 'libs'];

const COMPILED = join(import.meta.dirname, 'dev');

export function isSource(path: string): boolean {
  return /(?:^|[\\/])src[\\/].*\.ts$/.test(path) && !/\.(?:spec|d)\.ts$|[\\/](?:node_modules|dist)[\\/]/.test(path);
}

/** Where `npm run dev` keeps the JavaScript of a source file. */
export function compiledFile(source: string): string {
  return join(COMPILED, relative(WORKSPACE, source).replace(/\.ts$/, '.js'));
}
