import type { Principal } from '@animal-store/http-contract';
import { expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { createLogger } from './logger.js';
import { logRequests } from './request-log.js';

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
