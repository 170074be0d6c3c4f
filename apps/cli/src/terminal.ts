import { fstatSync, fsyncSync, statSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { isatty, WriteStream } from 'node:tty';
import { styleText } from 'node:util';

const RETRY_MS = 10;
const BAR_WIDTH = 30;
const REDRAW_INTERVAL_MS = 100;

/** The parts of the process that the program uses. */
export interface ProcessTerminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Asks the user. Undefined without a terminal, as in a pipe. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** The parts of the process that a command may use. */
export interface Terminal extends ProcessTerminal {
  /** Standard output for new keys: unlike `stdout`, it also throws if the reader has closed the pipe, as `head` does. */
  readonly keyOutput: Output;
}

export interface Output {
  readonly isTTY?: boolean;
  /** Whether the text may have colours. */
  readonly hasColours?: boolean;
  /** Whether nobody can read the text, as on /dev/null. */
  readonly isDiscarded?: boolean;
  /** Throws if the text cannot be written. */
  write(text: string): unknown;
}

/** Returns an output whose `write` throws if the text cannot be written completely. Streams report this too late or not at all. */
export function outputTo(descriptor: number): Output {
  return { isTTY: isatty(descriptor), isDiscarded: isNullDevice(descriptor), write: (text) => writeAll(descriptor, text) };
}

function writeAll(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      // A full disk or a size limit may cut a write short.
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      // A full pipe that another process has made non-blocking.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
  // Some file systems report a full disk only now.
  if (fstatSync(descriptor).isFile()) fsyncSync(descriptor);
}

/** Node.js opens /dev/null in place of a closed descriptor. */
function isNullDevice(descriptor: number): boolean {
  const { rdev } = fstatSync(descriptor);
  return rdev !== 0 && rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev;
}

/** Whether the output is a terminal with colours that NO_COLOR does not turn off. */
export function hasColours({ isTTY = false }: Output, env: NodeJS.ProcessEnv): boolean {
  return isTTY && WriteStream.prototype.hasColors(env);
}

/** Returns the text in colours if the output shows them. */
export function paint({ hasColours: isColoured = false }: Output, format: Parameters<typeof styleText>[0], text: string): string {
  return isColoured ? styleText(format, text, { validateStream: false }) : text;
}

/** Asks a yes/no question on a terminal. Returns true for yes; the default is no. */
export async function confirm(input: NodeJS.ReadableStream, output: NodeJS.WritableStream, question: string): Promise<boolean> {
  const terminal = createInterface({ input, output });
  try {
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    return /^y(?:es)?$/i.test((await Promise.race([terminal.question(`${question} [y/N] `), closed])).trim());
  } finally {
    terminal.close();
  }
}

/** Returns a progress bar such as `[#####     ]  50 %  5 of 10`. It is drawn only on a terminal. */
export function progressBar(output: Output, total: number) {
  if (!output.isTTY) return { update: (_done: number) => undefined, clear: () => undefined };
  let drawnAt = -Infinity;
  return {
    update: (done: number) => {
      const now = performance.now();
      if (now - drawnAt < REDRAW_INTERVAL_MS) return;
      drawnAt = now;
      const share = done / total;
      const bar = '#'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH);
      output.write(
        `\r[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`,
      );
    },
    clear: () => void output.write('\r\u001b[K'),
  };
}
