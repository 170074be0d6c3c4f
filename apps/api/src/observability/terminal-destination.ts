import { escapeControlCharacters, sanitiseForTerminal } from '@animal-store/access-domain';
import type { DestinationStream } from 'pino';

interface Line {
  readonly time: number;
  readonly level: number;
  readonly msg?: string;
  readonly [member: string]: unknown;
}

/** Names of levels, by their number in pino. Lines of the level `info` are written without a name. */
const NOTABLE_LEVELS: Readonly<Record<number, string>> = { 20: 'debug', 40: 'warning', 50: 'error', 60: 'fatal' };
/** Members that are only useful if lines of many processes are collected. */
const FOR_COLLECTORS = ['pid', 'hostname', 'requestId', 'traceId', 'clientId', 'keyId', 'operation'];

/** Writes log lines for people, such as `14:03:59  GET /v1/pets 200  durationMs=1.2`. Only errors take several lines. */
export function createTerminalDestination(output: { write(text: string): unknown }): DestinationStream {
  return { write: (line) => void output.write(`${toTerminalLine(JSON.parse(line) as Line)}\n`) };
}

function toTerminalLine({ time, level, msg = '', err, ...members }: Line): string {
  const { method, path, status, ...request } = members;
  const isRequest = msg === 'request';
  const details = Object.entries(isRequest ? request : members)
    .filter(([name, value]) => value !== undefined && !FOR_COLLECTORS.includes(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const words = [
    new Date(time).toTimeString().slice(0, 8),
    ...(level in NOTABLE_LEVELS ? [NOTABLE_LEVELS[level]] : []),
    isRequest ? `${String(method)} ${String(path)} ${String(status)}` : msg,
    details.join(' '),
  ];
  const { stack, message } = (err ?? {}) as { stack?: string; message?: string };
  const text = escapeControlCharacters(words.filter((word) => word !== '').join('  '));
  return err === undefined ? text : `${text}\n${sanitiseForTerminal(stack ?? message ?? JSON.stringify(err))}`;
}
