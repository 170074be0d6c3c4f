import { fstatSync, fsyncSync, statSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import type { Output } from './terminal.js';

const RETRY_MS = 10;

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
