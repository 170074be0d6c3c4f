import type { Output } from './terminal.js';

const WIDTH = 30;
const REDRAW_INTERVAL_MS = 100;

export interface ProgressBar {
  readonly update: (done: number) => void;
  readonly clear: () => void;
}

/** Returns a progress bar such as `[#####     ]  50 %  5 of 10`. It is drawn only on a terminal. */
export function progressBar(output: Output, total: number): ProgressBar {
  if (!output.isTTY) return { update: () => undefined, clear: () => undefined };
  let drawnAt = -Infinity;
  return {
    update(done) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_INTERVAL_MS) return;
      drawnAt = now;
      const share = done / total;
      const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH);
      output.write(
        `\r[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`,
      );
    },
    clear: () => void output.write('\r\u001b[K'),
  };
}
