const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm passes on a Ctrl-C that the terminal has sent already: what comes so soon is the same one. */
const SAME_MS = 1_000;
const EXIT_FORCED = 130;
const PARENT_POLL_MS = 100;

/** Is aborted by Ctrl-C or SIGTERM, and when npm is gone; a second signal ends the process at once. */
export function stopSignal(beforeForcedExit: () => void): AbortSignal {
  const stopping = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!stopping.signal.aborted) {
      firstAt = performance.now();
      stopping.abort();
    } else if (performance.now() - firstAt > SAME_MS) {
      beforeForcedExit();
      process.exit(EXIT_FORCED);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // The shell that npm puts in between may die of a signal without passing it on.
  const parent = process.ppid;
  const stopWithoutParent = () => process.ppid !== parent && stopping.abort();
  if (process.env['npm_lifecycle_event'] !== undefined) setInterval(stopWithoutParent, PARENT_POLL_MS).unref();
  return stopping.signal;
}
