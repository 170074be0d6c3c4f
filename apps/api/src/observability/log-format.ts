import { stdTimeFunctions } from 'pino';

export type LogFormatName = 'json' | 'gcp' | 'ecs';

/** How level, time and message are written, and constant members. All other members of log lines are the same in every format. */
export interface LogFormat {
  readonly level: (label: string, value: number) => Readonly<Record<string, string | number>>;
  /** Returns JSON text that begins with a comma. */
  readonly time: () => string;
  readonly message: string;
  /** Members of every line. */
  readonly constants: Readonly<Record<string, string>>;
}

/** https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#LogSeverity */
const SEVERITIES: Readonly<Record<string, string>> = { fatal: 'CRITICAL', error: 'ERROR', warn: 'WARNING', info: 'INFO' };
const ECS_VERSION = '8.11.0';

export const LOG_FORMATS: Readonly<Record<LogFormatName, LogFormat>> = {
  json: { level: (_label, value) => ({ level: value }), time: stdTimeFunctions.epochTime, message: 'msg', constants: {} },
  /** https://cloud.google.com/logging/docs/structured-logging */
  gcp: {
    level: (label) => ({ severity: SEVERITIES[label] ?? 'DEBUG' }),
    time: stdTimeFunctions.isoTime,
    message: 'message',
    constants: {},
  },
  /** https://www.elastic.co/docs/reference/ecs/logging/spec */
  ecs: {
    level: (label) => ({ 'log.level': label }),
    time: () => `,"@timestamp":"${new Date(Date.now()).toISOString()}"`,
    message: 'message',
    constants: { 'ecs.version': ECS_VERSION },
  },
};
