// `node tools/node.mjs tools/start/run.mjs <start|dev>`: builds stale projects, loads `.env` and runs the command in
// this process, because a shell in between would not forward npm's signals.
import { existsSync } from 'node:fs';
import { build } from '../build.mjs';

const [command] = process.argv.slice(2);
build(['tools/start']);

try {
  if (existsSync('.env')) process.loadEnvFile();
} catch ({ message }) {
  console.error(`.env cannot be read: ${message}`);
  process.exit(1);
}
await import(`./dist/${command}.js`);
