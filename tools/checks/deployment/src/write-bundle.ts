/**
 * The target `bundle` of the API and of the command-line tool. The arguments are folders of apps. Bundles the built program of each with
 * its packages into one file, and lazily loaded code (tracing, Redis) into further files, so that a start reads a dozen files
 * instead of 2,500. A bundle does not need node_modules.
 */
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const WORKSPACE = join(import.meta.dirname, '../../../..');
const NOT_DEPLOYED = [
  // Optional imports of NestJS, pg and debug that are not used here.
  /^(?:@nestjs\/(?:platform-express|microservices|websockets)|@fastify\/(?:multipart|static|view)|pg-native)(?:\/|$)/,
  /^(?:pg-cloudflare|supports-color|class-transformer\/storage)$/,
  '@animal-store/local-postgres',
];
/** Matches the folder of a third-party package in a module's path. */
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/;

for (const app of process.argv.slice(2)) await writeBundle(join(WORKSPACE, app));

async function writeBundle(app: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as { version: string };
  const bundle = await rolldown({
    cwd: WORKSPACE,
    input: join(app, 'dist/main.js'),
    platform: 'node',
    external: NOT_DEPLOYED,
    transform: { define: { BUNDLE: JSON.stringify({ version, commit: process.env['REVISION'] ?? 'unknown' }) } },
    plugins: [
      {
        // The package creates its own `require`, through which the bundler does not find class-validator. `PartialType` would drop all rules.
        name: 'mapped-types',
        transform: {
          filter: { id: /@nestjs\/mapped-types\// },
          handler: (code) => code.replace('const require = createRequire(import.meta.url);', ''),
        },
      },
    ],
    // Off, like `minify`: they remove calls whose result is unused, even if the calls are made for the errors they throw.
    treeshake: false,
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await bundle.generate({
    entryFileNames: 'main.js',
    chunkFileNames: '[name].js',
    // Keeps names of functions and classes for stacks in logs and for profiles.
    keepNames: true,
    minify: false,
    // Saves memory, because V8 keeps the source. A fifth of it is comments, and one character beyond Latin-1 doubles its size.
    charset: 'ascii',
    comments: false,
  });
  await bundle.close();

  const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
  // Lists the bundled packages, for the licences and the SBOM of the deployed folder.
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const packages = modules.flatMap((id) => PACKAGE.exec(relative(WORKSPACE, id).replaceAll(sep, '/'))?.[0] ?? []);
  files.set('packages.json', `${JSON.stringify([...new Set(packages)].sort(), null, 2)}\n`);

  await replaceFolder(join(app, 'bundle'), files);
}

/** Makes these the files of a folder. Changed files are replaced atomically, because a service may be reading or running them. */
async function replaceFolder(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (!files.has(name)) await rm(join(folder, name));
  for (const [name, content] of files) {
    const file = join(folder, name);
    const current = await readFile(file).catch(() => undefined);
    if (current?.equals(typeof content === 'string' ? Buffer.from(content) : content)) continue;
    await writeFile(`${file}.new`, content);
    await rename(`${file}.new`, file);
  }
}
