/** `npm run package`: writes the folder to deploy to `dist/package`, or to the folder in `--out`. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packageService } from './package-service.js';

const WORKSPACE = join(import.meta.dirname, '../../..');

const { values } = parseArgs({ options: { out: { type: 'string', default: join(WORKSPACE, 'dist/package') } } });
const out = resolve(values.out);
try {
  packageService(WORKSPACE, out);
  console.log(out);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
