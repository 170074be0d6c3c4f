import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Replaced by the bundler in write-bundle.ts. */
declare const BUNDLE: { readonly version: string; readonly commit: string } | undefined;

const MANIFEST = join(import.meta.dirname, '../../package.json');

/** Returns the labels of the metric `build_info`. Outside a bundle, the commit is unknown. */
export function buildInfo(): Readonly<Record<'version' | 'commit' | 'node_version', string>> {
  const { version, commit } = typeof BUNDLE === 'undefined' ? { version: versionOfSources(), commit: 'unknown' } : BUNDLE;
  return { version, commit, node_version: process.version };
}

function versionOfSources(): string {
  return (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version;
}
