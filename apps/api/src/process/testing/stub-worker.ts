import { EventEmitter } from 'node:events';
import type { WorkerReport } from '../worker-messages.js';

/** A worker without a process. */
export class StubWorker extends EventEmitter {
  readonly signals: string[] = [];
  readonly sent: unknown[] = [];
  readonly process = { pid: 1 as number | undefined, kill: (signal: string) => void this.signals.push(signal) };

  isConnected(): boolean {
    return true;
  }

  send(message: { readonly isMetricsRequest?: boolean }): void {
    if (message.isMetricsRequest) this.emit('message', { metrics: [] });
    else this.sent.push(message);
  }

  report(state: WorkerReport['state']): void {
    this.emit('message', { isWorker: true, state });
  }

  listen(address: WorkerReport['listening']): void {
    this.emit('message', { isWorker: true, listening: address });
  }

  beat(): void {
    this.emit('message', { isWorker: true });
  }

  fail(code: string): void {
    this.process.pid = undefined;
    this.emit('error', Object.assign(new Error(`spawn node ${code}`), { code }));
  }

  exit(code: number | null, signal: string | null = null): void {
    this.emit('exit', code, signal);
  }
}
