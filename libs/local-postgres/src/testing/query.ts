import { Client } from 'pg';

/** Executes statements on a new connection and returns the rows of the last one. A text may contain several statements. */
export async function query<Row extends object = Record<string, unknown>>(url: string, ...texts: readonly string[]): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  // A lost connection rejects the statement. Without a listener, it would also crash the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const text of texts) rows = [await client.query<Row>(text)].flat().at(-1)?.rows ?? [];
    return rows;
  } finally {
    await client.end();
  }
}
