import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { DevServer } from './dev-server.js';
import { isSource, SOURCE_FOLDERS, WORKSPACE } from './dev-paths.js';
import { reportFailure } from './failure.js';
import { LocalEnvironment } from './local-environment.js';
import { SourceCompiler } from './source-compiler.js';
import { stopSignal } from './stop-signal.js';
import { watchTypes } from './type-check.js';

/** Editors and git write several files at once. */
const SETTLE_MS = 50;

// `npm run dev`: the service of `npm start`, which is replaced within two seconds when a source changes. A file is compiled
// without the types, which are checked in the background: that takes longer, and an error of the types does not keep code from running.
const environment = new LocalEnvironment(process.env);
const stop = stopSignal(() => environment.kill());
let exitCode = 0;
try {
  const env = await environment.open(stop);
  if (!stop.aborted) await develop(env);
} catch (error) {
  reportFailure(error);
  exitCode = 1;
}
await environment.close();
process.exit(exitCode);

async function develop(env: NodeJS.ProcessEnv): Promise<void> {
  const compiler = new SourceCompiler();
  const server = new DevServer(env);
  let greeted = false;
  let reloading: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const reload = async (file?: string) => {
    if (stop.aborted) return;
    const start = performance.now();
    const errors = compiler.compileAll();
    if (errors.length > 0) return console.error(errors.join('\n'));
    const url = await server.replace();
    if (url === undefined) return console.error('Waiting for a change.');
    if (greeted) return console.log(`${file} has changed: ${url} runs it after ${((performance.now() - start) / 1000).toFixed(1)} s.`);
    console.log(await environment.welcome(url, env));
    greeted = true;
  };
  const schedule = (file: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reloading = reloading.then(() => reload(file)).catch(reportFailure);
    }, SETTLE_MS);
  };

  const watchers = SOURCE_FOLDERS.map((folder) =>
    watch(join(WORKSPACE, folder), { recursive: true }, (_event, name) => name !== null && isSource(name) && schedule(join(folder, name))),
  );
  await (reloading = reload());
  const types = watchTypes((text) => console.error(text));
  if (!stop.aborted) await once(stop, 'abort');
  for (const watcher of watchers) watcher.close();
  types.kill();
  await reloading;
  await server.close();
}
