import { PackagingError } from './packaging-error.js';
import type { LockedPackage, Workspace } from './workspace.js';

/**
 * The paths of the third-party packages that production needs, as npm's lock file marks them, optional ones left out.
 * @throws PackagingError unless node_modules holds exactly these, by their integrity
 */
export function productionPackages({ lock, installed }: Workspace): string[] {
  const paths = Object.entries(lock.packages).flatMap(([path, entry]) => (isProduction(path, entry) ? [path] : []));
  const differing = paths.filter((path) => {
    const integrity = lock.packages[path]?.integrity;
    return integrity === undefined || installed.packages[path]?.integrity !== integrity;
  });
  if (differing.length === 0) return paths;
  throw new PackagingError(`node_modules is not what package-lock.json says: run npm ci\n${differing.join('\n')}`);
}

function isProduction(path: string, { link, dev, optional, devOptional }: LockedPackage): boolean {
  return path.includes('node_modules/') && !link && !dev && !optional && !devOptional;
}
