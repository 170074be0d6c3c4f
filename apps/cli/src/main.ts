import { existsSync, fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { run } from './program.js';

if (existsSync('.env')) process.loadEnvFile();
// The callback of `write` reports the error.
process.stdout.on('error', () => undefined);
const { rdev } = fstatSync(1);

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: (text) => new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve()))),
  stderr: (text) => void process.stderr.write(text),
  // Node.js opens /dev/null in place of a closed descriptor.
  isDiscarded: rdev !== 0 && rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev,
});
