import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { withSerial } from './http-requests.js';
import type { Load, LoadResult } from './load.js';

// Sends the load of a file, for machines without wrk. A process of its own, so that it does not delay the bench.
const { url, requests, connections, seconds, offset } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Load;

let position = offset;
let serial = 0;
const next = () => {
  const { method, path, headers, body } = requests[position++ % requests.length] ?? { method: 'GET', path: '/', headers: {} };
  return { method, path, headers: { ...headers }, ...(body !== undefined && { body: withSerial(body, serial++) }) };
};

const result = await autocannon({
  url,
  connections,
  duration: seconds,
  timeout: 10,
  requests: [requests.length === 1 ? next() : { setupRequest: (request) => ({ ...request, ...next() }) }],
});
console.log(
  JSON.stringify({
    requests: result['2xx'] + result.non2xx,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    errors: result.non2xx + result.errors + result.timeouts,
  } satisfies LoadResult),
);
