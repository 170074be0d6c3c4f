import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProcess } from './run-process.js';
import type { Catalogue } from './database-server.js';
import type { Workload } from './workloads.js';

const COLUMNS = 'id, name, category_id, status';
/** SQL that reads or writes the same rows as one request to the service. The service itself serves several requests with one statement. */
const SCRIPTS: Partial<Record<Workload, (rows: number) => string>> = {
  list: () =>
    `SELECT ${COLUMNS} FROM pets.pets WHERE (status, id) >= ('available', 1) AND status <= 'available' ORDER BY status, id LIMIT 21;`,
  get: (rows) => `\\set id random(1, ${rows})\nSELECT ${COLUMNS} FROM pets.pets WHERE id = :id;`,
  create: () =>
    `\\set category random(1, 1000000)\nINSERT INTO pets.pets (name, category_id, status) VALUES ('Pet of the bench', :category, 'available') RETURNING id;`,
};
export const PGBENCH_WORKLOADS = Object.keys(SCRIPTS) as Workload[];
export const PGBENCH_CONNECTIONS = 16;

export interface PgbenchResult {
  readonly perSecond: number;
  readonly failed: number;
  readonly cpuMs: number;
}

/** Measures the database without a service. */
export async function runPgbench(catalogue: Catalogue, workload: Workload, connections: number, seconds: number): Promise<PgbenchResult> {
  const file = join(catalogue.server.folder, `${workload}.sql`);
  await writeFile(file, SCRIPTS[workload]?.(catalogue.rows) ?? '');
  const { hostname, port, username, password, pathname } = new URL(catalogue.url);
  const args = ['--no-vacuum', '--protocol=prepared', `--client=${connections}`, '--jobs=1', `--time=${seconds}`, `--file=${file}`];
  const { output, cpuMs } = await runProcess('pgbench', [...args, '-h', hostname, '-p', port, '-U', username, pathname.slice(1)], {
    PGPASSWORD: password,
  });
  return { ...parsePgbench(output), cpuMs };
}

export function parsePgbench(output: string): Omit<PgbenchResult, 'cpuMs'> {
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? NaN);
  const perSecond = number(/^tps = ([\d.]+)/m);
  if (Number.isNaN(perSecond)) throw new Error(`pgbench printed no result: ${output.trim()}`);
  return {
    perSecond,
    failed: number(/^number of failed transactions: (\d+)/m) || 0,
  };
}
