import { existsSync } from 'node:fs';
import { run } from './program.js';
import { confirm, outputTo } from './terminal.js';

if (existsSync('.env')) process.loadEnvFile();
const stderr = outputTo(2);
const isInteractive = process.stdin.isTTY && stderr.isTTY;
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: outputTo(1),
  stderr,
  ...(isInteractive && { confirm: (question) => confirm(process.stdin, process.stderr, question) }),
});
