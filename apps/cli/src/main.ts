import { existsSync } from 'node:fs';
import { confirm } from './confirm.js';
import { run } from './program.js';

if (existsSync('.env')) process.loadEnvFile();
const { env, stdin, stdout, stderr } = process;
const isInteractive = stdin.isTTY && stderr.isTTY;
process.exitCode = await run(process.argv.slice(2), {
  env,
  stdout,
  stderr,
  ...(isInteractive && { confirm: (question) => confirm(stdin, stderr, question) }),
});
