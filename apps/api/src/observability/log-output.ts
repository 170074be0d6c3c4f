import { setTimeout as sleep } from 'node:timers/promises';
import { symbols } from 'pino';

/** In characters. The lines of some seconds at full load. */
const MAX_WAITING = 4 * 1024 * 1024;
/** In characters. */
const BUFFER_LENGTH = 32 * 1024;
const FLUSH_INTERVAL_MS = 100;
const FLUSH_POLL_MS = 10;
const FLUSH_TIMEOUT_MS = 1_000;
const WARN = 40;

/** By default, Node.js waits until a terminal has accepted the text, for example while the user has paused it. */
type StandardOutput = NodeJS.WriteStream & { readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } };

/**
 * Writes log lines to standard output: many with one system call, but warnings and errors immediately. Never waits for a reader that is slow
 * or has ended, or for a full disk: further lines are dropped and counted. `pino.destination` waits for such a reader when the process exits.
 */
export class LogOutput {
  /** Lines dropped since the process started. */
  dropped = 0;
  /** Set by pino, because of the symbol. */
  lastLevel = 0;
  readonly [symbols.needsMetadataGsym] = true;
  private lines = '';

  constructor(private readonly output: StandardOutput = process.stdout) {
    if (output.isTTY && process.platform !== 'win32') output._handle?.setBlocking?.(false);
    output.on('error', () => undefined);
    setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
    process.once('exit', () => this.flush());
  }

  write(line: string): void {
    this.lines += line;
    if (this.lines.length >= BUFFER_LENGTH || this.lastLevel >= WARN) this.flush();
    // The request log does not write through pino. Its lines must not keep the level of an earlier line.
    this.lastLevel = 0;
  }

  /** Waits until the reader has accepted all lines, or for the timeout. Call before the process exits. */
  async flushed(timeoutMs = FLUSH_TIMEOUT_MS): Promise<void> {
    this.flush();
    const deadline = performance.now() + timeoutMs;
    while (this.output.writableLength > 0 && performance.now() < deadline) await sleep(FLUSH_POLL_MS);
  }

  private flush(): void {
    const { lines } = this;
    const drop = () => (this.dropped += lines.split('\n').length - 1);
    this.lines = '';
    if (lines === '') return;
    if (this.output.writableLength >= MAX_WAITING) drop();
    else this.output.write(lines, (error) => error && drop());
  }
}
