// `node tools/start/run.mjs <start|dev>`: builds what is stale and goes on in this process, so that signals for npm's
// child reach the service; a shell between the two would keep them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [command] = process.argv.slice(2);
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const build = spawnSync(process.execPath, [tsc, '-b', join(import.meta.dirname, 'tsconfig.lib.json')], { stdio: 'inherit' });
if (build.status !== 0) process.exit(1);

if (existsSync('.env')) process.loadEnvFile();
await import(`./dist/${command}.js`);
