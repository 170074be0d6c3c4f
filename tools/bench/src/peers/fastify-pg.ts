import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { Pool, type QueryConfig, type QueryResultRow, types } from 'pg';
import { hashOfBearer, KeyCache, printPort, requiredVariable, UNAUTHORIZED } from './peer.js';

// A hand-written catalogue service with Fastify and pg: prepared statements, and serialisers compiled from the response schemas.
const CONNECTIONS = 16;
const COLUMNS = 'id, name, category_id AS "categoryId", status';
const FIND_KEY = {
  name: 'find_key',
  text: `SELECT client_id FROM access.api_keys
    WHERE hash = decode($1, 'hex') AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
};
const FIND = { name: 'find', text: `SELECT ${COLUMNS} FROM pets.pets WHERE id = $1` };
const LIST = { name: 'list', text: `SELECT ${COLUMNS} FROM pets.pets WHERE id > $1 ORDER BY id LIMIT $2` };
const LIST_BY_STATUS = {
  name: 'list_by_status',
  text: `SELECT ${COLUMNS} FROM pets.pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
};
const INSERT = { name: 'insert', text: 'INSERT INTO pets.pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id' };
const FIRST = '-9223372036854775808';

interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' }, status: { type: 'string' } },
};
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 255 }, categoryId: { type: 'integer' }, status },
};
const listQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status,
    after: { type: 'string', pattern: '^-?[0-9]+$' },
  },
};

types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: requiredVariable('DATABASE_URL'), max: CONNECTIONS });
const query = <Row extends QueryResultRow>(statement: QueryConfig) => pool.query<Row>(statement);
const known = new KeyCache();
const app = fastify({ bodyLimit: 64 * 1024 });

app.addHook('onRequest', (request, reply, done) => {
  const hash = hashOfBearer(request.headers.authorization);
  if (hash === undefined) return void reply.status(401).send(UNAUTHORIZED);
  if (known.has(hash)) return done();
  query({ ...FIND_KEY, values: [hash] }).then(({ rowCount }) => {
    if (rowCount === 0) return void reply.status(401).send(UNAUTHORIZED);
    known.add(hash);
    done();
  }, done);
});

app.get<{ Querystring: { limit: number; status?: string; after?: string } }>(
  '/v1/pets',
  { schema: { querystring: listQuery, response: { 200: { type: 'array', items: pet } } } },
  async (request, reply) => {
    const { limit, status, after = FIRST } = request.query;
    const statement = status ? { ...LIST_BY_STATUS, values: [status, after, limit + 1] } : { ...LIST, values: [after, limit + 1] };
    const { rows } = await query<Pet>(statement);
    if (rows.length <= limit) return rows;
    rows.length = limit;
    const filter = status ? `&status=${status}` : '';
    reply.header('link', `</v1/pets?limit=${limit}${filter}&after=${rows[limit - 1]?.id}>; rel="next"`);
    return rows;
  },
);

app.get<{ Params: { petId: string } }>(
  '/v1/pets/:petId',
  { schema: { params: { type: 'object', properties: { petId: { type: 'string', pattern: '^-?[0-9]+$' } } }, response: { 200: pet } } },
  async (request, reply) => {
    const { rows } = await query<Pet>({ ...FIND, values: [request.params.petId] });
    return rows[0] ?? reply.status(404).send({ code: 'pet_not_found', message: 'There is no such animal.', status: 404 });
  },
);

app.post<{ Body: { name: string; categoryId: number; status?: string } }>(
  '/v1/pets',
  { schema: { body: newPet, response: { 201: pet } } },
  async (request, reply) => {
    const { name, categoryId, status = 'available' } = request.body;
    const { rows } = await query<{ id: number }>({ ...INSERT, values: [name, categoryId, status] });
    const id = rows[0]?.id;
    return reply.status(201).header('location', `/v1/pets/${id}`).send({ id, name, categoryId, status });
  },
);

await app.listen({ host: '127.0.0.1', port: 0 });
printPort((app.server.address() as AddressInfo).port);
