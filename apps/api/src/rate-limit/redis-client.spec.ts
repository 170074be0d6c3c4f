import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createRedisClient } from './redis-client.js';

const lines: unknown[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
const create = () => createRedisClient('redis://:secret@localhost:6379', logger);

it('logs the loss of the connection once, until it is ready again', () => {
  const client = create();
  client.emit('ready');
  expect(lines.splice(0)).toEqual([]);
  client.emit('error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  client.emit('error', new Error('again'));
  const lost = 'the connection to Redis is lost; counting only the requests of this machine';
  expect(lines.splice(0)).toEqual([{ level: 40, reason: 'ECONNREFUSED', msg: lost }]);
  client.emit('ready');
  client.emit('ready');
  expect(lines.splice(0)).toEqual([{ level: 30, msg: 'reconnected to Redis; counting the requests of all machines' }]);
  client.emit('error', new Error('Socket closed unexpectedly'));
  expect(lines.splice(0)).toEqual([{ level: 40, reason: 'Socket closed unexpectedly', msg: lost }]);
});

it('is not connected yet, and rejects commands instead of queuing them', async () => {
  const client = create();
  expect([client.isOpen, client.isReady]).toEqual([false, false]);
  await expect(client.get('a')).rejects.toThrow('The client is closed');
  expect(client.options).toMatchObject({ disableOfflineQueue: true });
});

it('detects a lost connection early, and reconnects after 50 ms to 1 s', () => {
  const { socket, ...options } = create().options;
  expect(options).toMatchObject({ commandOptions: { timeout: 250 }, pingInterval: 1_000 });
  expect(socket).toMatchObject({ connectTimeout: 1_000, socketTimeout: 3_000 });
  const delayAfter = socket?.reconnectStrategy as (retries: number) => number;
  expect([0, 1, 2, 4, 5, 100].map(delayAfter)).toEqual([50, 100, 200, 800, 1_000, 1_000]);
});
