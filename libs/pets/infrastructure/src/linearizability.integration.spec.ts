import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { describe } from '@jest/globals';
import { describeHistories } from './testing/describe-histories.js';
import { findViolation } from './testing/history.js';

describe('concurrent creations and reads, from two processes on one server, are linearizable', () => {
  describeHistories(async () => {
    const database = await createTestDatabase();
    return { url: database.url, replicaUrls: [], remove: () => database.drop() };
  }, findViolation);
});
