import { Database, describeError, jobState, repeat, runJob } from '@animal-store/database';
import type { ScheduledJob } from '@animal-store/http-kit';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Logger } from 'pino';
import { Draining } from '../http/connection.js';
import { LOGGER } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { assertUnique, StartupError } from '../config/startup-errors.js';

/** Maximum time between two reads of the state of a job. */
const MAX_PAUSE_MS = 60_000;
const START_POLL_MS = 1_000;

export const SCHEDULED_JOBS = Symbol('scheduled jobs');

/** Runs the jobs of all contexts: each in one process of the deployment at a time, and once per period. */
@Injectable()
export class JobRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private loops: readonly Promise<void>[] = [];
  private isFailureReported = false;

  constructor(
    @Inject(SCHEDULED_JOBS) private readonly jobs: readonly ScheduledJob[],
    private readonly moduleRef: ModuleRef,
    private readonly database: Database,
    private readonly draining: Draining,
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    assertUnique('jobs', jobs);
    for (const { name, every } of jobs) {
      if (!(Number.isInteger(every) && every > 0))
        throw new StartupError(`The period of the job ${name} must be an integer of at least 1 ms.`);
      metrics.jobPeriods.set({ job_name: name }, every / 1000);
      metrics.jobSuccesses.set({ job_name: name }, Date.now() / 1000);
    }
  }

  onApplicationBootstrap(): void {
    const runs = this.jobs.map((job) => ({ job, useCase: this.moduleRef.get(job.useCase, { strict: false }) }));
    this.loops = runs.map(({ job, useCase }) => repeat(this.stopping.signal, () => this.runIfDue(job, useCase)));
  }

  /** Starts no more runs, and waits for those in progress. The database is still connected. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops);
  }

  /** Returns the time until the next check, which follows a run at once. */
  private async runIfDue(job: ScheduledJob, useCase: { execute(): unknown }): Promise<number> {
    const { database, draining, metrics, logger } = this;
    const pauseMs = Math.min(job.every, MAX_PAUSE_MS);
    if (!database.hasOpened || draining.isActive) return Math.min(pauseMs, START_POLL_MS);
    try {
      const { dueInMs, succeededAt } = await jobState(database, job);
      if (succeededAt) metrics.jobSuccesses.set({ job_name: job.name }, succeededAt.getTime() / 1000);
      if (dueInMs > 0) return Math.min(dueInMs, MAX_PAUSE_MS);
      const hasRun = await runJob(database, job, () => this.run(job, useCase));
      this.isFailureReported = false;
      return hasRun ? 0 : pauseMs;
    } catch (error) {
      if (!this.isFailureReported)
        logger.warn({ reason: describeError(error) }, 'jobs do not run until their state can be read and written');
      this.isFailureReported = true;
      return pauseMs;
    }
  }

  /** Returns whether the use case succeeded. */
  private async run({ name: job }: ScheduledJob, useCase: { execute(): unknown }): Promise<boolean> {
    const endTimer = this.metrics.jobDurations.startTimer({ job_name: job });
    const end = (outcome: 'success' | 'failure') => ({ job, durationMs: Math.round(1000 * endTimer({ outcome })) });
    this.logger.debug({ job }, 'job started');
    try {
      await useCase.execute();
      this.logger.debug(end('success'), 'job succeeded');
      return true;
    } catch (error) {
      this.logger.error({ ...end('failure'), err: error }, 'job failed');
      return false;
    }
  }
}
