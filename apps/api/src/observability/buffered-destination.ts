import { type DestinationStream, symbols } from 'pino';

/** In characters. */
const BUFFER_LENGTH = 32 * 1024;
const FLUSH_INTERVAL_MS = 100;
const WARN = 40;
/** Signals that by default end the process without an `exit` event. `main` handles SIGINT and SIGTERM. */
const FATAL_SIGNALS = ['SIGHUP', 'SIGQUIT', 'SIGABRT'] as const;

/**
 * Writes many lines with one system call, but warnings and errors immediately. Flushes when the process exits, also because of an
 * uncaught error or a signal: Node.js writes synchronously to files, and to pipes and terminals whose readers are not behind.
 */
export function createBufferedDestination(output: { write(text: string): unknown }): DestinationStream {
  let lines = '';
  const flush = () => {
    if (lines === '') return;
    output.write(lines);
    lines = '';
  };
  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  process.once('exit', flush);
  for (const signal of FATAL_SIGNALS) process.once(signal, () => flushAndEnd(flush, signal));
  const stream = {
    // Makes pino set `lastLevel`.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string) {
      lines += line;
      if (lines.length >= BUFFER_LENGTH || stream.lastLevel >= WARN) flush();
      // The request log does not write through pino. Its lines must not keep the level of an earlier line.
      stream.lastLevel = 0;
    },
  };
  return stream;
}

/** Flushes and ends the process by the signal, unless there is another listener. */
function flushAndEnd(flush: () => void, signal: NodeJS.Signals): void {
  flush();
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}
