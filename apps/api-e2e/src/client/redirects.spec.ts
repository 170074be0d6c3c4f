import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AnimalStore, APIError } from '@animal-store/client';
import { afterEach, expect, it } from '@jest/globals';

const PET = '{"id":1,"name":"Rex","categoryId":7,"status":"sold"}';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const REQUESTS = { create: 'POST /v1/pets', list: 'GET /v1/pets', retrieve: 'GET /v1/pets/1' };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([301, 302, 303, 307, 308])('the client follows no %i, neither to the same nor to another origin', async (status) => {
  const received: string[] = [];
  const other = await serve((request, response) => {
    received.push(`${request.method} ${request.headers.authorization} at another origin`);
    response.writeHead(200, JSON_TYPE).end(PET);
  });
  for (const target of ['/v1/elsewhere', `${other}/v1/pets`]) {
    const baseURL = await serve((request, response) => {
      received.push(`${request.method} ${request.url}`);
      if (request.url === '/v1/elsewhere') response.writeHead(201, JSON_TYPE).end(PET);
      else response.writeHead(status, { Location: target }).end();
    });
    const { pets } = new AnimalStore({ apiKey: 'ast_key', baseURL });
    for (const call of [
      () => pets.create({ name: 'Rex', categoryId: 7n }),
      () => pets.list(),
      () => (pets as { retrieve(id: bigint): Promise<unknown> }).retrieve(1n),
    ]) {
      const error: unknown = await call().then(
        (value) => ({ resolved: value }),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(APIError);
      const to = target.startsWith('/') ? baseURL : other;
      const message = `The service redirects to ${to}: the client does not follow redirects, so baseURL must be the final URL`;
      expect(error).toMatchObject({ name: 'APIError', status, message, retryable: false });
    }
  }
  expect(received).toEqual([...Object.values(REQUESTS), ...Object.values(REQUESTS)]);
});
