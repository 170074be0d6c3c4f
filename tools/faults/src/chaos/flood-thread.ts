import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { FloodOptions, FloodResult } from './flood.js';

const CLOSED_LOOP_CONNECTIONS = 64;
/** Duration of the warm-up, and of the measurement after it, as a share of the duration of the open loop. */
const CLOSED_LOOP_SHARE = 0.25;
/** More than the service handles at a time, so that requests queue in the service and not here. */
const OPEN_LOOP_CONNECTIONS = 2_000;
const TICK_MS = 5;
const LAST_RESPONSE_TIMEOUT_MS = 15_000;
/** Rate of the open loop, as a multiple of the closed-loop capacity. */
const OVERLOAD = 5;
const PATH = '/v1/pets?limit=20&status=available';
const END_OF_HEAD = '\r\n\r\n';

const { url, keys, seconds } = workerData as FloodOptions;
const { hostname, port } = new URL(url);
const requests = keys.map((key) => Buffer.from(`GET ${PATH} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`));

const acceptedMs: number[] = [];
const responses = new Map<string, { status: number; text: string; count: number }>();
let sent = 0;
let responseCount = 0;
const dropped: string[] = [];

/** A connection that carries one request at a time. */
class Connection {
  private sentAt: number | undefined;
  private received = '';

  private constructor(
    private readonly socket: Socket,
    private readonly onFree: (connection: Connection) => void,
  ) {
    socket
      .setNoDelay(true)
      .setEncoding('latin1')
      .on('data', (text: string) => {
        this.received += text;
        this.read();
      })
      .on('error', () => undefined)
      .on('close', () => {
        if (this.sentAt !== undefined) dropped.push(`closed after ${Math.round(performance.now() - this.sentAt)} ms`);
      });
  }

  static async open(onFree: (connection: Connection) => void): Promise<Connection> {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket, onFree);
  }

  send(): void {
    this.sentAt = performance.now();
    this.socket.write(requests[sent++ % requests.length] ?? '');
  }

  end(): void {
    this.socket.destroy();
  }

  private read(): void {
    const headEnd = this.received.indexOf(END_OF_HEAD);
    if (headEnd < 0 || this.sentAt === undefined) return;
    const head = this.received.slice(0, headEnd);
    const bodyStart = headEnd + END_OF_HEAD.length;
    const end = bodyStart + Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (this.received.length < end) return;
    const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    if (status === 200) acceptedMs.push(performance.now() - this.sentAt);
    countResponse(status, status >= 400 ? this.received.slice(bodyStart, end) : '');
    this.sentAt = undefined;
    this.received = '';
    this.onFree(this);
  }
}

function countResponse(status: number, text: string): void {
  responseCount++;
  const key = `${status} ${text}`;
  responses.set(key, { status, text, count: (responses.get(key)?.count ?? 0) + 1 });
}

/** Returns the responses per second when each connection waits for its response (closed loop). */
async function measureCapacity(): Promise<number> {
  let isOver = false;
  const connections = await openAll(CLOSED_LOOP_CONNECTIONS, (connection) => {
    if (!isOver) connection.send();
  });
  for (const connection of connections) connection.send();
  await sleep(seconds * 1000 * CLOSED_LOOP_SHARE);
  const [before, begin] = [responseCount, performance.now()];
  await sleep(seconds * 1000 * CLOSED_LOOP_SHARE);
  isOver = true;
  const perSecond = ((responseCount - before) * 1000) / (performance.now() - begin);
  await waitForResponses();
  for (const connection of connections) connection.end();
  return perSecond;
}

/** Sends requests at a rate, without waiting for responses (open loop). Returns the rate that was reached. */
async function sendOpenLoop(perSecond: number): Promise<number> {
  const free: Connection[] = [];
  const connections = await openAll(OPEN_LOOP_CONNECTIONS, (connection) => free.push(connection));
  // Warm-up request: without it, the time to accept the connection would be measured too.
  for (const connection of connections) connection.send();
  await waitForResponses();
  acceptedMs.length = 0;
  const before = sent;
  const begin = performance.now();
  for (let due = 0; due < perSecond * seconds;) {
    due = ((performance.now() - begin) / 1000) * perSecond;
    while (sent - before < due) {
      const connection = free.shift();
      if (!connection) break;
      connection.send();
    }
    await sleep(TICK_MS);
  }
  const offered = ((sent - before) * 1000) / (performance.now() - begin);
  await waitForResponses();
  for (const connection of connections) connection.end();
  return offered;
}

function openAll(count: number, onFree: (connection: Connection) => void): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(onFree)));
}

async function waitForResponses(): Promise<void> {
  for (
    const deadline = performance.now() + LAST_RESPONSE_TIMEOUT_MS;
    responseCount + dropped.length < sent && performance.now() < deadline;
  )
    await sleep(TICK_MS);
  while (responseCount + dropped.length < sent) dropped.push('timeout');
}

const capacity = await measureCapacity();
const offered = await sendOpenLoop(OVERLOAD * capacity);
parentPort?.postMessage({ capacity, offered, acceptedMs, responses, dropped } satisfies FloodResult);
