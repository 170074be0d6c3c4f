import { generateApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import { hostname } from 'node:os';
import { describe, expect, it, jest } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { createLogger, LOG_FORMATS, type LogFormatName, NestLogger } from './logger.js';

const key = generateApiKeySecret('test' as KeyEnvironment);

function lineOf(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger('info', { write: (line) => lines.push(line) }));
  return lines.join('');
}

describe('createLogger', () => {
  const time = '2026-01-02T03:04:05.678Z';
  const process_ = `"pid":${String(process.pid)},"hostname":${JSON.stringify(hostname())}`;

  it.each([
    ['json', 'fatal', `{"level":60,"time":${String(Date.parse(time))},${process_},"a":1,"msg":"text"}`],
    ['json', 'info', `{"level":30,"time":${String(Date.parse(time))},${process_},"a":1,"msg":"text"}`],
    ['gcp', 'fatal', `{"severity":"CRITICAL","time":"${time}",${process_},"a":1,"message":"text"}`],
    ['gcp', 'error', `{"severity":"ERROR","time":"${time}",${process_},"a":1,"message":"text"}`],
    ['gcp', 'warn', `{"severity":"WARNING","time":"${time}",${process_},"a":1,"message":"text"}`],
    ['gcp', 'info', `{"severity":"INFO","time":"${time}",${process_},"a":1,"message":"text"}`],
    ['gcp', 'debug', `{"severity":"DEBUG","time":"${time}",${process_},"a":1,"message":"text"}`],
    ['ecs', 'warn', `{"log.level":"warn","@timestamp":"${time}",${process_},"ecs.version":"8.11.0","a":1,"message":"text"}`],
  ] as const)('writes %s lines of level %s', (format, level, line) => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));
    const lines: string[] = [];
    createLogger('debug', { write: (text) => lines.push(text) }, format)[level]({ a: 1 }, 'text');
    now.mockRestore();
    expect(lines).toEqual([`${line}\n`]);
  });

  it('redacts keys in every format, also in bound members', () => {
    for (const format of Object.keys(LOG_FORMATS) as LogFormatName[]) {
      const lines: string[] = [];
      createLogger('info', { write: (text) => lines.push(text) }, format)
        .child({ bound: key })
        .warn(`message ${key}`);
      expect(lines.join('')).not.toContain(key);
    }
  });

  it('redacts keys in all parts of a line', () => {
    const line = lineOf((logger) => {
      logger
        .child({ bound: key })
        .info({ [key]: { nested: [key] }, err: new Error(`key ${key}`, { cause: new Error(key) }) }, `message ${key}`);
    });
    expect(line).not.toContain(key);
    expect(line).not.toContain(key.slice(-40));
    expect(line).toContain(`message ${prefixOf(key)}…`);
    expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it('writes type and stack of an error, but no values of its statement', () => {
    const driverError = Object.assign(new Error('new row violates check constraint "pets_name_check"'), {
      code: '23514',
      constraint: 'pets_name_check',
      detail: 'Failing row contains (1, Rex, 7).',
    });
    const line = lineOf((logger) =>
      logger.error({ err: new QueryFailedError('INSERT INTO pets VALUES ($1)', ['Rex'], driverError) }, 'failed'),
    );
    const { err } = JSON.parse(line) as { err: object };
    expect(err).toMatchObject({
      type: 'QueryFailedError',
      code: '23514',
      constraint: 'pets_name_check',
      stack: expect.stringContaining('logger.spec'),
    });
    expect(line).not.toContain('Rex');
  });
});

describe('NestLogger', () => {
  it('logs warnings and errors with their context, and nothing else', () => {
    const lines: unknown[] = [];
    const logger = new NestLogger(createLogger('debug', { write: (line) => lines.push(JSON.parse(line)) }));
    logger.log();
    logger.warn('late', 'Timer');
    logger.error('failed', 'Error: failed\n    at …', 'Filter');
    logger.fatal(new Error('lost'), 'App');
    expect(lines).toEqual([
      expect.objectContaining({ level: 40, context: 'Timer', msg: 'late' }),
      expect.objectContaining({ level: 50, context: 'Filter', stack: 'Error: failed\n    at …', msg: 'failed' }),
      expect.objectContaining({ level: 60, context: 'App', msg: 'Error: lost' }),
    ]);
  });
});
