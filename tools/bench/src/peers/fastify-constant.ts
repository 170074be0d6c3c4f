import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { JSON_TYPE, readConstantResponses } from './constant-responses.js';
import { printPort } from './peer-process.js';

// Upper bound for Fastify: routing and body parsing, without authentication or a database.
const { list, get, create } = readConstantResponses();

const app = fastify();
app.get('/v1/pets', (_, reply) => reply.type(JSON_TYPE).send(list));
app.get('/v1/pets/:petId', (_, reply) => reply.type(JSON_TYPE).send(get));
app.post('/v1/pets', (_, reply) => reply.status(201).type(JSON_TYPE).send(create));

await app.listen({ host: '127.0.0.1', port: 0 });
printPort((app.server.address() as AddressInfo).port);
