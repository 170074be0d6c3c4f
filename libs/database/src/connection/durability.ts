import type { Client } from 'pg';

export interface DurabilityRisk {
  /** The settings that are off, and what that means. */
  readonly problem: string;
  readonly remedy: string;
}

/** Returns what the server, the database and the role set that may lose commits; undefined if nothing. */
export async function durabilityRisk(client: Client): Promise<DurabilityRisk | undefined> {
  // `reset_val`, because a session has its own `synchronous_commit`.
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND reset_val = 'off' ORDER BY name`,
  );
  if (rows.length === 0) return undefined;
  const settings = rows.map(({ name }) => `${name} = off`).join(', ');
  return rows.some(({ name }) => name !== 'synchronous_commit')
    ? {
        problem: `the database has ${settings}: a crash of its machine may lose or damage stored data`,
        remedy: 'set fsync, full_page_writes and synchronous_commit to on',
      }
    : {
        problem: `the database has ${settings}: the service sets local for its sessions, but other programs may lose what they commit`,
        remedy: 'set synchronous_commit to on',
      };
}
