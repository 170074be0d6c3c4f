import { type DestinationStream, symbols } from 'pino';

/** Characters, mostly bytes. */
const BUFFER_LENGTH = 32 * 1024;
const FLUSH_EVERY_MS = 100;
const WARN = 40;
/** Without a listener they end a process without the event `exit`. `main` listens to SIGINT and SIGTERM. */
const FATAL_SIGNALS = ['SIGHUP', 'SIGQUIT', 'SIGABRT'] as const;

/**
 * Writes many lines with one system call, and warnings and errors at once. What is buffered is written when the process exits, also by
 * an uncaught error or a signal. To a file or a pipe, Node.js writes before `write` returns.
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
  for (const signal of FATAL_SIGNALS) process.once(signal, () => flushAndEnd(flush, signal));
  // When the reader of the lines is gone, the service continues.
  output.on('error', () => undefined);
  const stream = {
    // Makes pino set `lastLevel`.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string) {
      lines += line;
      if (lines.length >= BUFFER_LENGTH || stream.lastLevel >= WARN) flush();
    },
  };
  return stream;
}

/** Ends the process by the signal, as without our listener, unless there is another one. */
function flushAndEnd(flush: () => void, signal: NodeJS.Signals): void {
  flush();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}
