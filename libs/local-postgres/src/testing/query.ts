import { Client } from 'pg';

/** Runs statements on a connection of its own, and returns the rows of the last one. A text may hold several. */
export async function query<Row extends object = Record<string, unknown>>(url: string, ...texts: readonly string[]): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  // A server that goes away fails the statement; without a listener it would also end the process.
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
