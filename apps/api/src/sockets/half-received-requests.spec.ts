import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import type { Refusal } from './request-body.js';
import { connectionOf, type Reception } from './connection.js';
import { HalfReceivedRequests } from './half-received-requests.js';

const MAX = 8;
const MAX_OF_ADDRESS = 2;
/** Addresses of one /64 network. */
const SAME_NETWORK = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3'] as const;

/** Receptions by an observer, and the addresses whose requests it abandoned, in order. */
function observe(admit: () => Refusal | undefined = () => undefined) {
  const abandoned: string[] = [];
  const requests = new HalfReceivedRequests(MAX, admit);
  const begin = (ip: string, socket = new Socket()): Reception => {
    const reception = requests.begin({ ip, raw: { socket } } as FastifyRequest, () => {
      abandoned.push(ip);
      requests.end(reception);
    });
    return reception;
  };
  return { abandoned, begin, end: (reception: Reception) => requests.end(reception) };
}

describe('HalfReceivedRequests', () => {
  it.each([
    ['an IPv4 address', '192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['an IPv6 network', ...SAME_NETWORK],
  ])('limits the requests of %s, and forgets those that have ended', async (_what, one, other, newest) => {
    const { abandoned, begin, end } = observe();
    for (let i = 0; i < 2 * MAX; i++) {
      const reception = begin(one);
      await turn();
      end(reception);
    }
    begin(one);
    begin(other);
    await turn();
    expect(abandoned).toEqual([]);
    begin(newest);
    await turn();
    expect(abandoned).toEqual([one]);
  });

  it('limits the requests of all addresses, and abandons the oldest', async () => {
    const { abandoned, begin, end } = observe();
    const receptions = Array.from({ length: MAX }, (_, i) => begin(`192.0.2.${String(i)}`));
    await turn();
    for (const reception of receptions.splice(0, 1)) end(reception);
    begin('192.0.2.100');
    await turn();
    expect(abandoned).toEqual([]);
    begin('192.0.2.101');
    await turn();
    expect(abandoned).toEqual(['192.0.2.1']);
  });

  it('does not count requests that are received in one turn of the event loop', async () => {
    const { abandoned, begin, end } = observe();
    for (let i = 0; i < 2 * MAX; i++) end(begin('192.0.2.1'));
    for (let i = 0; i < MAX_OF_ADDRESS; i++) begin('192.0.2.1');
    await turn();
    expect(abandoned).toEqual([]);
  });

  it('returns the refusal of the admission', () => {
    const refusal = {} as Refusal;
    const { begin, end } = observe(() => refusal);
    expect(end(begin('192.0.2.1'))).toBe(refusal);
  });

  it('keeps the reception of the next request of the connection', () => {
    const { begin, end } = observe();
    const socket = new Socket();
    const first = begin('192.0.2.1', socket);
    const second = begin('192.0.2.1', socket);
    end(first);
    expect(connectionOf(socket).receiving).toBe(second);
    end(second);
    expect(connectionOf(socket).receiving).toBeUndefined();
  });
});
