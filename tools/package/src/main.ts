/** `npm run package`: writes the deployable service to `dist/package`, or to the folder that `--out` names. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packageService } from './package-service.js';
import { PackagingError } from './packaging-error.js';

const WORKSPACE = join(import.meta.dirname, '../../..');

const { values } = parseArgs({ options: { out: { type: 'string', default: join(WORKSPACE, 'dist/package') } } });
const out = resolve(values.out);
try {
  const { projects, packages, files, bytes } = await packageService(WORKSPACE, out);
  console.log(
    `${out}: ${(bytes / 1e6).toFixed(1)} MB in ${files} files: ${projects.length} projects, ${packages.length} third-party packages`,
  );
} catch (error) {
  console.error(error instanceof PackagingError ? error.message : error);
  process.exitCode = 1;
}
