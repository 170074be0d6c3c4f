import { existsSync } from 'node:fs';
import { run } from './program.js';

if (existsSync('.env')) process.loadEnvFile();
process.exitCode = await run(process.argv.slice(2), { env: process.env, stdout: process.stdout, stderr: process.stderr });
