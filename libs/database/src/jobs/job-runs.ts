import type { Database } from '../database.js';
import { CreateJobRuns1763683560000 } from './1763683560000-create-job-runs.js';
import { withOwnConnection } from '../connection/database-client.js';
import type { Persistence } from '../persistence.js';
import { SETS_LOCK_TIMEOUT } from '../statements/sharding.js';

/** First key of the advisory locks of jobs; the second one is a hash of the name. The number is arbitrary but must be unique. */
const JOB_LOCKS = 730_294_756;

/** When each job of the deployment last started and succeeded, by the database's clock. */
export const jobsPersistence: Persistence = {
  schema: 'jobs',
  sharded: false,
  entities: [],
  migrations: [CreateJobRuns1763683560000],
  privileges: { service: ['SELECT, INSERT, UPDATE ON jobs.runs'] },
};

export interface Job {
  /** Unique in the deployment. */
  readonly name: string;
  /** Period in ms, from start to start. */
  readonly every: number;
}

/** Returns the time until the job is due, and the time of its last success, or of its first start if it has not succeeded yet. */
export async function jobState({ pool }: Database, { name, every }: Job) {
  const { rows } = await pool.query<{ dueInMs: number; succeededAt: Date }>(
    // A start in the future, after a change of the clock, does not block the job for long.
    `SELECT CASE WHEN started_at BETWEEN now() - period AND now() + period
         THEN extract(epoch FROM period - (now() - started_at)) * 1000 ELSE 0 END::float8 AS "dueInMs",
       coalesce(succeeded_at, created_at) AS "succeededAt"
     FROM jobs.runs, LATERAL (SELECT $2 * interval '1 ms' AS period) AS job WHERE name = $1`,
    [name, every],
  );
  return rows[0] ?? { dueInMs: 0, succeededAt: undefined };
}

/**
 * Runs `work`, which returns whether it succeeded, if the job is due and no other process runs it. Returns whether it ran. A lock of a
 * transaction also works through a pooler. The transaction is READ COMMITTED and writes nothing, so vacuum continues.
 */
export async function runJob({ pool, settings }: Database, { name, every }: Job, work: () => Promise<boolean>): Promise<boolean> {
  return withOwnConnection(settings, 'animal-store job lock', async (client) => {
    // In one message, so that the transaction is never idle with the timeout of the role.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0');
    // Without parameters, because the portal of a statement with parameters would hold a snapshot.
    const { rows } = await client.query(
      `SELECT WHERE pg_try_advisory_xact_lock(${String(JOB_LOCKS)}, hashtext(${client.escapeLiteral(name)}))`,
    );
    if (rows.length === 0) return false;
    // No row is written if another process has just run the job.
    const started = await pool.query(
      `INSERT INTO jobs.runs AS run (name, started_at) SELECT $1, now() WHERE ${SETS_LOCK_TIMEOUT}
       ON CONFLICT (name) DO UPDATE SET started_at = now()
         WHERE run.started_at <= now() - $2 * interval '1 ms' OR run.started_at > now() + $2 * interval '1 ms'`,
      [name, every],
    );
    if (started.rowCount === 0) return false;
    if (await work()) await pool.query(`UPDATE jobs.runs SET succeeded_at = now() WHERE name = $1 AND ${SETS_LOCK_TIMEOUT}`, [name]);
    return true;
  });
}
