import cluster from 'node:cluster';

/** Exit code from sysexits(3). Tells the supervisor that a worker cannot start, in contrast to a crash. */
export const EX_CONFIG = 78;

/** Exit code of a process that cannot start. */
export const FAILED_START = cluster.isWorker ? EX_CONFIG : 1;

/** The reason why the service cannot start. Its message is printed without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
