import { existsSync } from 'node:fs';
import { confirm } from './confirm.js';
import { run } from './program.js';

if (existsSync('.env')) process.loadEnvFile();
const { env, stdin, stdout, stderr } = process;
// A reader may close the pipe early, as `head` does.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
const isInteractive = stdin.isTTY && stderr.isTTY;
process.exitCode = await run(process.argv.slice(2), {
  env,
  stdout,
  stderr,
  ...(isInteractive && { confirm: (question) => confirm(stdin, stderr, question) }),
});
