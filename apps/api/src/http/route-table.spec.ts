import { expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { RouteTable } from './route-table.js';

it('knows the methods of each path, also with parameters and queries', () => {
  const server = fastify({ exposeHeadRoutes: true });
  const routes = new RouteTable();
  routes.recordRoutesOf(server);
  server.route({ method: ['GET', 'POST'], url: '/pets', handler: () => undefined });
  server.get('/pets/:id', () => undefined);
  expect(routes.entries()).toEqual([
    ['GET', '/pets'],
    ['POST', '/pets'],
    ['HEAD', '/pets'],
    ['GET', '/pets/:id'],
    ['HEAD', '/pets/:id'],
  ]);
  expect(['/pets', '/pets?a=/b', '/pets/1?a', '/pets/', '/pets/1/2', '/'].map((url) => routes.allowedMethods(url))).toEqual([
    'GET, POST, HEAD, OPTIONS',
    'GET, POST, HEAD, OPTIONS',
    'GET, HEAD, OPTIONS',
    undefined,
    undefined,
    undefined,
  ]);
});
