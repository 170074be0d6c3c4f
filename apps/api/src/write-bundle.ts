/**
 * The target `bundle` of this app and of the command-line tool; the argument is the folder of the one that is meant. Makes one
 * file of the built program and of the packages that each start loads, and further ones of what is loaded when it is asked for
 * (tracing, Redis): a start reads a dozen files instead of 2,500.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const WORKSPACE = join(import.meta.dirname, '../../..');
const APP = join(WORKSPACE, process.argv[2] ?? 'apps/api');
const OUT = join(APP, 'bundle');
const NOT_DEPLOYED = [
  // NestJS and pg ask for them in cases that do not occur here.
  /^(?:@nestjs\/(?:platform-express|microservices|websockets)|@fastify\/(?:multipart|static|view)|pg-native)(?:\/|$)/,
  '@animal-store/local-postgres',
];

const bundle = await rolldown({
  cwd: WORKSPACE,
  input: join(APP, 'dist/main.js'),
  platform: 'node',
  external: NOT_DEPLOYED,
  // Every module as it is, here and in `minify`: a call whose result is unused, for the error that it throws, counts as dead code.
  treeshake: false,
  onLog: (level, { message }) => {
    if (level === 'warn') throw new Error(message);
  },
});
const { output } = await bundle.generate({
  entryFileNames: 'main.js',
  chunkFileNames: '[name].js',
  // Readable, with the names of functions and classes, for stacks in logs and for profiles.
  keepNames: true,
  minify: false,
  // A process keeps its source: a fifth of it are comments, and a single character beyond Latin-1 makes all take two bytes.
  charset: 'ascii',
  comments: false,
});
await bundle.close();

// What is as it was stays untouched: a program may run from it.
await mkdir(OUT, { recursive: true });
for (const name of await readdir(OUT)) {
  if (!output.some(({ fileName }) => fileName === name)) await rm(join(OUT, name));
}
for (const file of output) {
  const path = join(OUT, file.fileName);
  const content = file.type === 'chunk' ? file.code : file.source;
  if ((await readFile(path, 'utf8').catch(() => undefined)) !== content) await writeFile(path, content);
}
