import { generateApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { Logger } from '@nestjs/common';
import { createLogger, createNestLogger } from './logger.js';

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

it('writes the causes of an error and the errors of an AggregateError, at most ten errors', () => {
  const refused = new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'text'], '');
  const { err } = JSON.parse(lineOf((logger) => logger.error({ err: new Error('lost', { cause: refused }) }, ''))) as { err: object };
  expect(err).toMatchObject({ message: 'lost', cause: { type: 'AggregateError', errors: [{ message: 'refused', code: 'ECONNREFUSED' }] } });
  const endless = new Error('endless');
  const line = lineOf((logger) => logger.error({ err: Object.assign(endless, { cause: endless, errors: [endless, endless] }) }, ''));
  expect(line.split('"message":"endless"')).toHaveLength(11);
});

describe("Nest's Logger", () => {
  const failure = new Error('failed', { cause: new Error('lost') });
  const err = expect.objectContaining({
    message: 'failed',
    stack: expect.any(String),
    cause: expect.objectContaining({ message: 'lost' }),
  });

  function linesOf(log: (logger: Logger) => void): unknown[] {
    const lines: unknown[] = [];
    Logger.overrideLogger(createNestLogger(createLogger('trace', { write: (line) => lines.push(JSON.parse(line)) })));
    log(new Logger('Orders'));
    return lines;
  }

  it.each<[log: (logger: Logger) => void, fields: object]>([
    [(logger) => logger.log('text'), { level: 30, msg: 'text' }],
    [(logger) => logger.log({ a: 1n }, 'text'), { a: 1, msg: 'text' }],
    [(logger) => logger.log('text', { a: { b: [2] } }), { a: { b: [2] }, msg: 'text' }],
    [(logger) => logger.log('one', 2, [3], null), { msg: 'one 2 [ 3 ] null' }],
    [(logger) => logger.log({ a: 1 }), { a: 1, msg: '' }],
    [
      (logger) => logger.error('text', 'Error: failed\n    at f (x.js:1:1)'),
      { level: 50, stack: 'Error: failed\n    at f (x.js:1:1)', msg: 'text' },
    ],
    [(logger) => logger.error(failure), { level: 50, err, msg: 'failed' }],
    [(logger) => logger.error('text', failure), { err, msg: 'text' }],
    [(logger) => logger.error({ error: failure }, 'text'), { error: err, msg: 'text' }],
    [(logger) => logger.warn('text'), { level: 40 }],
    [(logger) => logger.fatal('text'), { level: 60 }],
    [(logger) => logger.debug('text'), { level: 20 }],
    [(logger) => logger.verbose('text'), { level: 10 }],
  ])('%s', (log, fields) => {
    expect(linesOf(log)).toEqual([expect.objectContaining({ context: 'Orders', ...fields })]);
  });

  it('logs the start of Nest only at the level debug', () => {
    expect(linesOf(() => new Logger('RouterExplorer').log('Mapped'))).toMatchObject([{ level: 20, msg: 'Mapped' }]);
    expect(linesOf(() => new Logger('NestApplication').error('Failed'))).toMatchObject([{ level: 50, msg: 'Failed' }]);
  });
});
