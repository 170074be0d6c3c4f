import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from './config.js';

/** For Node.js itself, logs, secret files, Redis, traces, metrics and a migration. */
const RESERVED = 64;
/** Share of MAX_CONNECTIONS that may be open beyond it, to respond with 503. */
const SHARE_BEYOND = 1 / 100;

type Limits = Pick<Config, 'maxConnections' | 'databasePoolSize' | 'databaseReplicaUrls'>;

/** Returns the limit of open files of this process, or undefined if there is none or it is unknown. Node.js has raised it to the hard limit. */
export function openFileLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Lowers `maxConnections` so that clients leave file descriptors for the database and the process itself. */
export function fitIntoOpenFiles<T extends Limits>(config: T, limit: number | undefined, logger?: Pick<Logger, 'warn'>): T {
  if (limit === undefined) return config;
  const { databasePoolSize, databaseReplicaUrls } = config;
  const left = limit - RESERVED - databasePoolSize * (1 + databaseReplicaUrls.length);
  const maxConnections = Math.max(1, Math.floor(left / (1 + SHARE_BEYOND)) - 1);
  if (maxConnections >= config.maxConnections) return config;
  logger?.warn(
    { maxConnections, openFiles: limit },
    'MAX_CONNECTIONS is lowered because of the limit of open files: raise that limit (ulimit -n), or set MAX_CONNECTIONS to this value',
  );
  return { ...config, maxConnections };
}
