import { contexts } from '@animal-store/api/contexts';
import { query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

describe('text in indexes', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createMigratedDatabase(contexts.map(({ persistence }) => persistence));
  });
  afterAll(() => database.drop());

  // With another collation, an update of the operating system changes the order, and PostgreSQL then misses rows of the index.
  it('indexes on text have the collation "C"', async () => {
    expect(await indexesInLocale(database.url)).toEqual([]);
  });

  it('an index whose order depends on the locale is found', async () => {
    await query(
      database.url,
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.labels (name text PRIMARY KEY, code text COLLATE "C" UNIQUE, note text)',
      'CREATE INDEX notes ON shop.labels (code, note)',
      'CREATE INDEX lower_names ON shop.labels (lower(code), lower(name))',
      'CREATE INDEX exact_notes ON shop.labels (note COLLATE "C")',
    );
    expect(await indexesInLocale(database.url)).toEqual(['shop.labels_pkey (name)', 'shop.lower_names (lower(name))', 'shop.notes (note)']);
  });
});

/** Returns the columns of indexes whose order depends on the locale, such as `pets_name_idx (name)`. */
async function indexesInLocale(url: string): Promise<string[]> {
  const rows = await query<{ found: string }>(
    url,
    `SELECT format('%I.%I (%s)', nspname, relname, pg_get_indexdef(indexrelid, ordinal::int4, true)) AS found
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     CROSS JOIN LATERAL unnest(indcollation) WITH ORDINALITY AS indexed (collation_oid, ordinal)
     JOIN pg_collation ON pg_collation.oid = collation_oid
     WHERE nspname NOT IN ('pg_catalog', 'pg_toast') AND collname <> 'C' ORDER BY 1`,
  );
  return rows.map(({ found }) => found.replaceAll('"', ''));
}
