import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Layout, type NodeName, tlsFolderOf } from './layout.js';

interface Options {
  readonly method?: string;
  readonly body?: object;
  /** Required for requests that change something. */
  readonly password?: string;
  readonly timeoutMs: number;
}

/** Sends a request to Patroni's REST API, with a client certificate, and returns the body. Throws unless the status is 200 to 299. */
export async function requestPatroni(
  layout: Layout,
  node: NodeName,
  path: string,
  { method = 'GET', body, password, timeoutMs }: Options,
): Promise<string> {
  const { host, patroni } = layout.nodes[node];
  const [ca, pem] = await Promise.all(
    ['patroni-ca.pem', 'patroni-client.pem'].map((file) => readFile(join(tlsFolderOf(layout), file), 'utf8')),
  );
  const options = { method, ca, cert: pem, key: pem, signal: AbortSignal.timeout(timeoutMs), agent: false };
  return new Promise((resolve, reject) => {
    const sent = request(
      `https://${host}:${patroni}${path}`,
      { ...options, ...(password !== undefined && { auth: `patroni:${password}` }) },
      (response) => {
        const { statusCode = 0 } = response;
        text(response).then(
          (received) =>
            statusCode >= 200 && statusCode < 300 ? resolve(received) : reject(new Error(`${path}: ${statusCode} ${received}`)),
          reject,
        );
      },
    );
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}
