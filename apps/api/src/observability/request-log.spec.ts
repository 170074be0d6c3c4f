import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fc from 'fast-check';
import { loggedPath } from './logged-path.js';
import { createLogger } from './logger.js';
import { requestLog } from './request-log.js';

// The time of both lines.
beforeAll(() => void jest.spyOn(Date, 'now').mockReturnValue(Date.now()));
afterAll(() => void jest.restoreAllMocks());

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const visibleAscii = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1 });

it('writes the line that the logger would write', () => {
  const request = fc.record({
    id: visibleAscii,
    traceId: maybe(fc.stringMatching(/^[0-9a-f]{32}$/)),
    principal: maybe(fc.record({ clientId: fc.bigInt(), keyId: fc.bigInt() })),
    operation: maybe(fc.constantFrom('listPets', 'createPet')),
    method: fc.constantFrom('GET', 'POST', 'M-SEARCH'),
    url: fc.string({ unit: 'binary' }).map((path) => `/${path}`),
    errorCode: maybe(fc.constant('pet_not_found')),
  });
  fc.assert(
    fc.property(
      request,
      fc.integer({ min: 200, max: 599 }),
      fc.double({ min: 0, max: 1e5, noNaN: true }),
      (given, statusCode, elapsedTime) => {
        const lines: string[] = [];
        const logger = createLogger('info', { write: (line) => lines.push(line) });
        requestLog(logger)(given as unknown as FastifyRequest, { statusCode, elapsedTime } as FastifyReply);
        logger.info(
          {
            requestId: given.id,
            traceId: given.traceId,
            clientId: given.principal?.clientId.toString(),
            keyId: given.principal?.keyId.toString(),
            operation: given.operation,
            method: given.method,
            path: loggedPath(given.url),
            status: statusCode,
            code: given.errorCode,
            durationMs: Math.round(elapsedTime * 1000) / 1000,
          },
          'request',
        );
        expect(lines[0]).toBe(lines[1]);
      },
    ),
  );
});

it('writes nothing below its level', () => {
  const lines: string[] = [];
  const logger = createLogger('warn', { write: (line) => lines.push(line) });
  requestLog(logger)({ id: 'x', url: '/', method: 'GET' } as FastifyRequest, { statusCode: 200, elapsedTime: 1 } as FastifyReply);
  expect(lines).toEqual([]);
});
