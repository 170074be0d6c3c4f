import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { readConfig } from '../config/config.js';
import { BODY_LIMIT_BYTES, HEADER_SECTION_BYTES, MAX_HEADER_FIELDS, MAX_TARGET_LENGTH } from '../errors/http-errors.js';
import { createNodeServer } from './connection.js';

const guide = readFileSync(new URL('../../../../docs/guides/limits.md', import.meta.url), 'utf8');
const config = readConfig({ DATABASE_URL: 'postgres://unused' });
const { rateLimit, maxInFlight, maxConnections } = config;
const ignore = () => undefined;
const { headersTimeout, requestTimeout, keepAliveTimeout } = createNodeServer(ignore, config, ignore);
const text = (value: number) => value.toLocaleString('en');

it.each([
  `Body of JSON: ${BODY_LIMIT_BYTES / 1024} KiB.`,
  `${text(MAX_TARGET_LENGTH)} characters`,
  `${HEADER_SECTION_BYTES / 1024} KiB, ${MAX_HEADER_FIELDS} headers`,
  `${text(rateLimit)} per minute (default)`,
  `within ${headersTimeout / 1000} seconds, and a whole request within ${requestTimeout / 1000} seconds.`,
  `closed after ${keepAliveTimeout / 1000} seconds (default). Close idle`,
  `${maxInFlight} requests in progress (default)`,
  `${text(maxConnections)} connections (default)`,
])('the guide about limits has the limit of the code: %s', (limit) => {
  expect(guide).toContain(limit);
});
