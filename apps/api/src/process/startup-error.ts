import cluster from 'node:cluster';

/** Of sysexits(3): tells the supervisor that a worker cannot start, in contrast to a crash. */
export const EX_CONFIG = 78;

/** Exit code of a process that cannot start. */
export const FAILED_START = cluster.isWorker ? EX_CONFIG : 1;

/** Why the service cannot start; each line of the message is for a person, without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
