/** On Ctrl-C the terminal and npm both send SIGINT: a second signal within this time is the same Ctrl-C. */
const SAME_CTRL_C_MS = 1_000;
const EXIT_FORCED = 130;

/** Returns a signal that is aborted on SIGINT, SIGTERM and SIGHUP. A second Ctrl-C exits at once. */
export function stopSignal(beforeForcedExit: () => void): AbortSignal {
  const stopping = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!stopping.signal.aborted) {
      firstAt = performance.now();
      stopping.abort();
    } else if (performance.now() - firstAt > SAME_CTRL_C_MS) {
      beforeForcedExit();
      process.exit(EXIT_FORCED);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  return stopping.signal;
}
