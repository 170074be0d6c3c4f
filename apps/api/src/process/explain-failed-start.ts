import { isDatabaseUnavailable } from '@animal-store/database';
import type { Config } from './config.js';
import { StartupError } from './startup-error.js';

/** The error as a line for a person where it is one of the machine or the configuration; else as it is. */
export function explainFailedStart(error: unknown, { adminPort, databaseUrl }: Pick<Config, 'adminPort' | 'databaseUrl'>): unknown {
  const { code, message, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  const database = new URL(databaseUrl);
  const of = port !== undefined && port === adminPort ? 'ADMIN_' : '';
  if (code === 'EADDRINUSE') return new StartupError(`Port ${String(port)} is taken; set ${of}PORT to another one.`);
  if (code === 'EACCES') return new StartupError(`Port ${String(port)} needs more rights; set ${of}PORT to 1024 or above.`);
  if (code === 'EADDRNOTAVAIL') return new StartupError(`${of}HOST ${String(address)} is no address of this machine.`);
  if (isDatabaseUnavailable(error))
    return new StartupError(`The database at ${database.host} cannot be reached: ${firstLine(message, code)}`);
  // 28: authentication, 3D000: no such database
  if (/^(?:28...|3D000)$/.test(code ?? ''))
    return new StartupError(`The database at ${database.host} refuses the connection: ${firstLine(message, code)}`);
  return error;
}

function firstLine(message: string, code = 'no answer'): string {
  return message.split('\n', 1)[0]?.trim() || code;
}
