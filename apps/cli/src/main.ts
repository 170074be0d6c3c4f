import { existsSync } from 'node:fs';
import { run } from './program.js';

try {
  if (existsSync('.env')) process.loadEnvFile();
} catch (error) {
  console.error(`error: .env cannot be read: ${(error as Error).message}`);
  process.exit(1);
}
// The callback of `write` reports the error.
process.stdout.on('error', () => undefined);

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: (text) => new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve()))),
  stderr: (text) => void process.stderr.write(text),
});
