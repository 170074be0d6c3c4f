/** Each signal changes the clock of the process: an hour ahead, an hour behind, then the right time. */
export const CLOCK_JUMPS = 3;
export const CLOCK_SIGNAL = 'SIGUSR2';

const PRELOAD = `
  const offsets = [3_600_000, -3_600_000, 0];
  let jumps = 0;
  let offset = 0;
  const now = Date.now;
  Date.now = () => now() + offset;
  globalThis.Date = new Proxy(Date, {
    construct: (target, values) => values.length > 0 ? new target(...values) : new target(target.now()),
  });
  process.on('${CLOCK_SIGNAL}', () => { offset = offsets[jumps++ % offsets.length]; });`;

/** Value for NODE_OPTIONS, which workers inherit. */
export const JUMPING_CLOCK = `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}`;
