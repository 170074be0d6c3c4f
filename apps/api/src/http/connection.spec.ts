import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connectionOf, dropBody, isBodyReceived, isDrained } from './connection.js';

const MIB = 1024 * 1024;
let socket: Socket;

beforeEach(() => {
  jest.useFakeTimers();
  socket = new Socket();
});

afterEach(() => {
  jest.useRealTimers();
});

it('belongs to its socket', () => {
  expect(connectionOf(socket)).toBe(connectionOf(socket));
  expect(connectionOf(socket)).not.toBe(connectionOf(new Socket()));
});

it('is closed when the socket is', () => {
  const connection = connectionOf(socket);
  expect(connection.isClosed).toBe(false);
  socket.emit('close');
  expect(connection.isClosed).toBe(true);
});

describe('closing', () => {
  it.each(['close', 'destroySoon'] as const)('by %s sends the end, drops input, and destroys a silent socket after 2 seconds', (method) => {
    const connection = connectionOf(socket);
    const end = jest.spyOn(socket, 'end').mockReturnValue(socket);
    const resume = jest.spyOn(socket, 'resume').mockReturnValue(socket);
    if (method === 'close') connection.close();
    else socket.destroySoon();
    expect([connection.isEnded, end.mock.calls.length, resume.mock.calls.length]).toEqual([true, 1, 1]);
    jest.advanceTimersByTime(1_999);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
  });

  it.each([
    ['2 s after its last byte', 1, 1, 4_000],
    ['after 10 s', MIB, 10, 10_000],
    ['after 8 MiB', 9 * MIB, 10, 2_000],
  ])('destroys the socket of a client that is still sending %s', (_what, bytesPerSecond, seconds, destroyedAfter) => {
    let bytesRead = 0;
    Object.defineProperty(socket, 'bytesRead', { get: () => bytesRead });
    connectionOf(socket).close();
    for (let ms = 1_000; ms <= destroyedAfter; ms += 1_000) {
      expect(socket.destroyed).toBe(false);
      if (ms <= seconds * 1_000) bytesRead += bytesPerSecond;
      jest.advanceTimersByTime(1_000);
    }
    expect(socket.destroyed).toBe(true);
  });

  it('leaves no timer after the client has closed the connection', () => {
    connectionOf(socket).close();
    expect(jest.getTimerCount()).toBe(1);
    socket.emit('close');
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('endWith', () => {
  it('calls back immediately without pending responses', () => {
    const last = jest.fn();
    const connection = connectionOf(socket);
    connection.endWith(last);
    expect([last.mock.calls.length, connection.isEnded]).toEqual([1, true]);
  });

  it.each([
    ['after the last pending response', true, 1],
    ['never if the socket is not writable', false, 0],
  ])('calls back %s', (_what, writable, calls) => {
    Object.defineProperty(socket, 'writable', { value: writable });
    const last = jest.fn();
    const connection = connectionOf(socket);
    connection.pending = 2;
    connection.endWith(last);
    connection.finishResponse();
    expect(last).not.toHaveBeenCalled();
    connection.finishResponse();
    expect(last).toHaveBeenCalledTimes(calls);
  });
});

it.each<[headers: IncomingMessage['headers'], isAnnounced: boolean, isRead: boolean]>([
  [{}, false, false],
  [{ 'content-length': '0' }, false, true],
  [{ 'content-length': String(MIB) }, true, true],
  [{ 'content-length': String(MIB + 1) }, true, false],
  [{ 'transfer-encoding': 'chunked' }, true, false],
])('headers %j announce a body, except for GET and HEAD: %s, whose rest is dropped: %s', (headers, isAnnounced, isRead) => {
  expect(isDrained({ headers } as IncomingMessage)).toBe(isRead);
  const received = ['POST', 'DELETE', 'GET', 'HEAD'].filter((method) => isBodyReceived({ method, headers } as IncomingMessage));
  expect(received).toEqual(isAnnounced ? ['POST', 'DELETE'] : []);
});

it('a body is dropped up to 8 MiB if nothing reads it', async () => {
  jest.useRealTimers();
  const request = new PassThrough({ highWaterMark: 16 * MIB });
  dropBody(request as unknown as IncomingMessage);
  for (const [bytes, isPaused] of [
    [8 * MIB, false],
    [1, true],
  ] as const) {
    request.write(Buffer.alloc(bytes));
    await new Promise(setImmediate);
    expect(request.isPaused()).toBe(isPaused);
  }
});
