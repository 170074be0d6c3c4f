import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { FloodOptions, FloodResult } from './flood.js';

const CLOSED_LOOP_CONNECTIONS = 64;
/** Share of the open loop's time: once to warm up, once to count. */
const CLOSED_LOOP_SHARE = 0.25;
/** More than the service handles at a time, so that requests queue in the service and not here. */
const OPEN_LOOP_CONNECTIONS = 2_000;
const TICK_MS = 5;
const LAST_ANSWER_WITHIN_MS = 15_000;
const END_OF_HEAD = '\r\n\r\n';

const { url, keys, path, times, seconds } = workerData as FloodOptions;
const { hostname, port } = new URL(url);
const requests = keys.map((key) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`));

const acceptedMs: number[] = [];
const answers = new Map<string, { status: number; text: string; count: number }>();
let sent = 0;
let answered = 0;
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
    count(status, status >= 400 ? this.received.slice(bodyStart, end) : '');
    this.sentAt = undefined;
    this.received = '';
    this.onFree(this);
  }
}

function count(status: number, text: string): void {
  answered++;
  const key = `${status} ${text}`;
  answers.set(key, { status, text, count: (answers.get(key)?.count ?? 0) + 1 });
}

/** Returns the responses per second if each connection waits for its response (closed loop). */
async function capacity(): Promise<number> {
  let isOver = false;
  const connections = await openAll(CLOSED_LOOP_CONNECTIONS, (connection) => {
    if (!isOver) connection.send();
  });
  for (const connection of connections) connection.send();
  await sleep(seconds * 1000 * CLOSED_LOOP_SHARE);
  const [before, begin] = [answered, performance.now()];
  await sleep(seconds * 1000 * CLOSED_LOOP_SHARE);
  isOver = true;
  const perSecond = ((answered - before) * 1000) / (performance.now() - begin);
  await lastAnswers();
  for (const connection of connections) connection.end();
  return perSecond;
}

/** Sends requests at a rate, without waiting for responses (open loop). Returns the rate that was reached. */
async function openLoop(perSecond: number): Promise<number> {
  const free: Connection[] = [];
  const connections = await openAll(OPEN_LOOP_CONNECTIONS, (connection) => free.push(connection));
  // Warm-up request: without it, the time to accept the connection would be measured too.
  for (const connection of connections) connection.send();
  await lastAnswers();
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
  await lastAnswers();
  for (const connection of connections) connection.end();
  return offered;
}

function openAll(count: number, onFree: (connection: Connection) => void): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(onFree)));
}

async function lastAnswers(): Promise<void> {
  for (const deadline = Date.now() + LAST_ANSWER_WITHIN_MS; answered + dropped.length < sent && Date.now() < deadline;)
    await sleep(TICK_MS);
  while (answered + dropped.length < sent) dropped.push('timeout');
}

const answeredASecond = await capacity();
const offered = await openLoop(times * answeredASecond);
parentPort?.postMessage({ capacity: answeredASecond, offered, acceptedMs, answers, dropped } satisfies FloodResult);
