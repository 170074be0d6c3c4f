/** Returns the statement that creates a table for an `IdempotencyKeyEntity` whose `rowId` is in this column. */
export function createIdempotencyKeyTable(table: string, rowId: string): string {
  return `CREATE TABLE ${table} (
    client_id bigint, key text COLLATE "C", ${rowId} bigint NOT NULL, request jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (client_id, key)
  )`;
}
