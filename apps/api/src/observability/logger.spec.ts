import { generateApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { createLogger, NestLogger } from './logger.js';

const key = generateApiKeySecret('test' as KeyEnvironment);

function lineOf(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger('info', { write: (line) => lines.push(line) }));
  return lines.join('');
}

describe('createLogger', () => {
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
