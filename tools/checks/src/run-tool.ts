import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './workspace.js';

export interface ToolResult {
  /** 1 if a signal ended the run. */
  readonly exitCode: number;
  readonly output: string;
}

/** Runs the command of an npm package that has the same name as the package without its scope. */
export function runTool(name: string, args: readonly string[], cwd = ROOT): Promise<ToolResult> {
  const folder = join(ROOT, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: string | Readonly<Record<string, string>> };
  const program = join(folder, typeof bin === 'string' ? bin : (bin[name.slice(name.indexOf('/') + 1)] ?? ''));
  // Running plugins in the same process halves the time of an Nx command.
  const env = { ...process.env, FORCE_COLOR: '0', NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false', NX_TUI: 'false' };
  return new Promise((done) => {
    execFile(process.execPath, [program, ...args], { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      done({ exitCode: error ? (typeof error.code === 'number' ? error.code : 1) : 0, output: stdout + stderr });
    });
  });
}
