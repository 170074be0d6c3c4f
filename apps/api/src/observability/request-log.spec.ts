import type { Principal } from '@animal-store/http-contract';
import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { loggedPath } from './logged-path.js';
import { createLogger } from './logger.js';
import { logRequests, requestLog } from './request-log.js';

async function linesOf(level: string, about: object = {}): Promise<string[]> {
  const lines: string[] = [];
  const server = fastify({ genReqId: () => 'r' });
  server.addHook('onRequest', (request, _reply, done) => {
    Object.assign(request, about);
    done();
  });
  logRequests(server, createLogger(level, { write: (line) => lines.push(line) }));
  server.get('/v1/pets/1', (_request, reply) => reply.code(404).send());
  await server.inject('/v1/pets/1?secret=1');
  await server.close();
  return lines;
}

it('writes one line for a response, without its query', async () => {
  const principal = { clientId: 9007199254740993n, keyId: 2n } as Principal;
  const [line = '', ...more] = await linesOf('info', { principal, operation: 'getPet', errorCode: 'pet_not_found', traceId: 'abc' });
  expect(more).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({
    msg: 'request',
    requestId: 'r',
    traceId: 'abc',
    clientId: '9007199254740993',
    keyId: '2',
    operation: 'getPet',
    method: 'GET',
    path: '/v1/pets/1',
    status: 404,
    code: 'pet_not_found',
    durationMs: expect.any(Number),
  });
});

it('leaves out what a request without a client does not have', async () => {
  const [line = ''] = await linesOf('info');
  expect(Object.keys(JSON.parse(line) as object)).toEqual([
    'level',
    'time',
    'pid',
    'hostname',
    'requestId',
    'method',
    'path',
    'status',
    'durationMs',
    'msg',
  ]);
});

it('writes nothing below its level', async () => {
  expect(await linesOf('warn')).toEqual([]);
});

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const visibleAscii = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1 });

it('writes the line that the logger would write', () => {
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
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
  now.mockRestore();
});
