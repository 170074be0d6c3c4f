// `node tools/start/run.mjs <start|dev>`: builds stale projects, renders the guides, loads `.env` and runs the command in this process,
// because a shell in between would not forward npm's signals.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [command] = process.argv.slice(2);
const tsc = join(createRequire(import.meta.url).resolve('@typescript/7/package.json'), '../bin/tsc');
const steps = [
  [tsc, '-b', join(import.meta.dirname, 'tsconfig.lib.json')],
  [join(import.meta.dirname, '../../apps/api/dist/build/write-guides.js')],
];
for (const step of steps) if (spawnSync(process.execPath, step, { stdio: 'inherit' }).status !== 0) process.exit(1);

if (existsSync('.env')) process.loadEnvFile();
await import(`./dist/${command}.js`);
