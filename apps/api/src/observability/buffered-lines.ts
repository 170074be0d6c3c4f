import type { DestinationStream } from 'pino';

/** Characters, mostly bytes. */
const BUFFER_LENGTH = 32 * 1024;
const FLUSH_EVERY_MS = 100;

/**
 * One system call for many lines; pino's own destination measures what it has gathered at each line. What is buffered when the
 * process ends is written: only kill -9 loses the last moment. To a file or a pipe Node writes before `write` returns.
 */
export function bufferedLines(output: NodeJS.WriteStream): DestinationStream {
  let lines = '';
  const flush = () => {
    if (lines === '') return;
    output.write(lines);
    lines = '';
  };
  setInterval(flush, FLUSH_EVERY_MS).unref();
  process.once('exit', flush);
  // Whoever read the lines is gone; the service goes on.
  output.on('error', () => undefined);
  return {
    write(line) {
      lines += line;
      if (lines.length >= BUFFER_LENGTH) flush();
    },
  };
}
