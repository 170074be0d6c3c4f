import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type RolldownWatcher, watch } from 'rolldown';
import { runUntilStopped } from './run-until-stopped.js';

const WORKSPACE = join(import.meta.dirname, '../../..');
/** In the API's folder, because the sources look up files through the API's package.json. */
const BUNDLE = join(WORKSPACE, 'apps/api/dev/dist');
// `npm run dev`: Rolldown bundles the sources after each change, `node --watch` restarts the bundle, and tsc checks the types.
// PostgreSQL keeps running. Node.js gets further arguments, such as `--inspect`.
await runUntilStopped(async (env) => {
  const bundler = await bundleSources();
  const service = fork(join(BUNDLE, 'dev-service.js'), {
    env: { ...env, NODE_COMPILE_CACHE: join(BUNDLE, '.cache') },
    execArgv: ['--watch', '--watch-preserve-output', '--watch-kill-signal=SIGINT', '--enable-source-maps', ...process.argv.slice(3)],
  });
  const typeChecker = startTypeChecker();
  return {
    // `node --watch` sends messages too.
    url: new Promise((resolve) => service.on('message', (message: { url?: string }) => message.url && resolve(message.url))),
    ready: new Promise<void>((resolve) => service.on('message', (message: { isReady?: true }) => message.isReady && resolve())),
    close: () => Promise.all([bundler.close(), stopProcess(service), stopProcess(typeChecker)]),
  };
});

/** Resolves after the first bundle. If a source does not compile, the last bundle is kept. */
async function bundleSources(): Promise<RolldownWatcher> {
  const bundler = watch({
    input: { 'dev-service': join(WORKSPACE, 'tools/start/src/dev-service.ts') },
    platform: 'node',
    // npm packages are not bundled, except for the compiler's helpers for decorators, which Rolldown contains.
    external: (id) => /^(?!@animal-store\/|@oxc-project\/)[@a-z]/.test(id) && !isAbsolute(id),
    resolve: { conditionNames: ['@animal-store/source'], extensionAlias: { '.js': ['.ts', '.js'] } },
    tsconfig: join(WORKSPACE, 'tsconfig.base.json'),
    output: { dir: BUNDLE, chunkFileNames: '[name].js', keepNames: true, sourcemap: true },
  });
  await new Promise<void>((resolve) => {
    bundler.on('event', async (event) => {
      if (event.code === 'ERROR') console.error(`${event.error.message}\nWaiting for a change.`);
      if (event.code === 'BUNDLE_END') resolve();
      if ('result' in event) await event.result.close();
    });
  });
  return bundler;
}

function startTypeChecker(): ChildProcess {
  // TypeScript 7.0 misses a change that is made while it compiles.
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc6');
  const args = [tsc, '--watch', '--preserveWatchOutput', '--project', join(WORKSPACE, 'tools/start/tsconfig.dev.json')];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // The restart of the service has priority.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  return child;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}
