import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CLIENT = join(import.meta.dirname, '../../../../libs/client');
const WORKSPACE_PACKAGES = join(import.meta.dirname, '../../../../node_modules');
const require = createRequire(import.meta.url);
/** Compilers by the major version of TypeScript. Version 7 is several times faster, but callers may still use version 6. */
const COMPILERS = {
  6: require.resolve('typescript/bin/tsc6'),
  7: join(require.resolve('@typescript/7/package.json'), '../bin/tsc'),
};
const run = promisify(execFile);
const npm = (args: readonly string[], cwd: string) => run('npm', args, { cwd, shell: process.platform === 'win32' });

/** An empty project with the client installed from its npm package. */
export class InstalledClient {
  private constructor(readonly folder: string) {}

  static async install(): Promise<InstalledClient> {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-installed-client-'));
    const { stdout } = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], CLIENT);
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    await npm(['install', '--offline', '--no-audit', '--no-fund', join(folder, packed?.filename ?? '')], folder);
    return new InstalledClient(folder);
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.folder, name), text);
  }

  /** Compiles files and type-checks them and the declarations of the client. Throws the compiler errors. */
  async compile(files: readonly string[], options: object, version: keyof typeof COMPILERS = 7): Promise<void> {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
      ...options,
    };
    await this.write('tsconfig.json', JSON.stringify({ compilerOptions: { ...compilerOptions, pretty: false }, files }));
    // Nx sets FORCE_COLOR, which has precedence over `pretty`.
    await run(process.execPath, [COMPILERS[version]], { cwd: this.folder, env: { ...process.env, FORCE_COLOR: undefined } }).catch(
      (error: unknown) => {
        throw new Error((error as { stdout: string }).stdout);
      },
    );
  }

  /** Installs packages from the npm registry. */
  async add(...packages: readonly string[]): Promise<void> {
    await npm(['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], this.folder);
  }

  /** Runs a program and returns its standard output and standard error. The default runtime is Node.js. */
  async run(
    file: string,
    environment: NodeJS.ProcessEnv,
    [runtime, ...args]: readonly [string, ...string[]] = [process.execPath],
  ): Promise<{ stdout: string; stderr: string }> {
    return run(runtime, [...args, file], { cwd: this.folder, env: { PATH: process.env['PATH'], ...environment } });
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}

/** Compiler options with the types of Node.js and without those of browsers. */
export const NODE_TYPES = { lib: ['es2022'], types: ['node'], typeRoots: [join(WORKSPACE_PACKAGES, '@types')] };
