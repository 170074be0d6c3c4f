import { setTimeout as sleep } from 'node:timers/promises';
import { type DestinationStream, symbols } from 'pino';

/** In characters. The lines of some seconds at full load. */
const MAX_WAITING = 4 * 1024 * 1024;
const FLUSH_POLL_MS = 10;
/** In characters. */
const BUFFER_LENGTH = 32 * 1024;
const FLUSH_INTERVAL_MS = 100;
const WARN = 40;
/** Signals that by default end the process without an `exit` event. `main` handles SIGINT and SIGTERM. */
const FATAL_SIGNALS = ['SIGHUP', 'SIGQUIT', 'SIGABRT'] as const;

/** A stream of log lines, such as `process.stdout`. */
export interface Output {
  readonly writableLength: number;
  write(text: string, onWritten: (error?: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** A terminal. By default, Node.js waits until a terminal has accepted the text, for example while the user has paused it. */
interface BlockingOutput {
  readonly isTTY?: boolean;
  readonly _handle?: { setBlocking?(isBlocking: boolean): unknown };
}

/**
 * Writes lines to a reader that may be slow, may have ended, or whose disk may be full. Never waits for it: lines beyond `maxWaiting` are
 * dropped and counted.
 */
export class BoundedOutput {
  /** Lines dropped since the process started. */
  dropped = 0;
  private reported = 0;
  private hasFailed = false;

  /** @param onDropped Called with a number of dropped lines when the reader accepts lines again. */
  constructor(
    private readonly output: Output,
    private readonly onDropped: (lines: number) => void,
    private readonly maxWaiting = MAX_WAITING,
  ) {
    const { isTTY = false, _handle } = output as BlockingOutput;
    if (isTTY && process.platform !== 'win32') _handle?.setBlocking?.(false);
    // The service continues if the reader of its output ends.
    output.on('error', () => undefined);
  }

  /** @param text whole lines */
  write(text: string): void {
    if (this.output.writableLength >= this.maxWaiting) {
      this.dropped += countLines(text);
      return;
    }
    // A part of the last line may have been written before the failure.
    this.output.write(this.hasFailed ? `\n${text}` : text, (error) => this.onWritten(text, error));
  }

  /** Waits until the reader has accepted all lines, at most `timeoutMs`. Call before the process exits. */
  async flushed(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.output.writableLength > 0 && performance.now() < deadline) await sleep(FLUSH_POLL_MS);
  }

  private onWritten(text: string, error: Error | null | undefined): void {
    this.hasFailed = Boolean(error);
    if (error) this.dropped += countLines(text);
    const lines = this.dropped - this.reported;
    if (error || lines === 0 || this.output.writableLength > this.maxWaiting / 2) return;
    this.reported = this.dropped;
    this.onDropped(lines);
  }
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

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
