/**
 * The target `bundle` of this app and of the command-line tool; the argument is the folder of the app. Bundles the built program
 * and the packages that every start loads into one file, and lazily loaded code (tracing, Redis) into further ones, so that a
 * start reads a dozen files instead of 2,500. Nothing in a bundle needs node_modules.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const WORKSPACE = join(import.meta.dirname, '../../..');
const APP = join(WORKSPACE, process.argv[2] ?? 'apps/api');
const OUT = join(APP, 'bundle');
const NOT_DEPLOYED = [
  // Optional imports of NestJS, pg and debug, for cases that do not occur here.
  /^(?:@nestjs\/(?:platform-express|microservices|websockets)|@fastify\/(?:multipart|static|view)|pg-native)(?:\/|$)/,
  /^(?:pg-cloudflare|supports-color|class-transformer\/storage)$/,
  '@animal-store/local-postgres',
];
/** The folder of a third-party package in a module's path. */
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;

const { version } = JSON.parse(await readFile(join(APP, 'package.json'), 'utf8')) as { version: string };
const bundle = await rolldown({
  cwd: WORKSPACE,
  input: join(APP, 'dist/main.js'),
  platform: 'node',
  external: NOT_DEPLOYED,
  transform: { define: { BUNDLE: JSON.stringify({ version, commit: process.env['REVISION'] ?? 'unknown' }) } },
  plugins: [
    {
      // Its own `require` hides from the bundler that it loads class-validator: `PartialType` would drop all rules, without an error.
      name: 'mapped-types',
      transform: {
        filter: { id: /@nestjs\/mapped-types\// },
        handler: (code) => code.replace('const require = createRequire(import.meta.url);', ''),
      },
    },
  ],
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

const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
// The packages in the bundle, for the licences and the SBOM of the deployed folder.
const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
const packages = modules.flatMap((id) => PACKAGE.exec(relative(WORKSPACE, id).replaceAll(sep, '/'))?.[0] ?? []);
files.set('packages.json', `${JSON.stringify([...new Set(packages)].sort(), null, 2)}\n`);

// Unchanged files stay untouched: a program may be running from them.
await mkdir(OUT, { recursive: true });
for (const name of await readdir(OUT)) if (!files.has(name)) await rm(join(OUT, name));
for (const [name, content] of files) {
  const path = join(OUT, name);
  if ((await readFile(path, 'utf8').catch(() => undefined)) !== content) await writeFile(path, content);
}
