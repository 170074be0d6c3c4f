import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JSON_TYPE, readConstantResponses } from './constant-responses.js';
import { printPort } from './peer-process.js';

// Upper bound for Node.js: one comparison as routing, without authentication or a database.
const { list, get, create } = readConstantResponses();

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      const status = bytes > 0 ? 201 : 400;
      response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(create) }).end(create);
    });
    return;
  }
  const text = request.url?.startsWith('/v1/pets/') ? get : list;
  response.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) }).end(text);
});

server.listen(0, '127.0.0.1', () => printPort((server.address() as AddressInfo).port));
