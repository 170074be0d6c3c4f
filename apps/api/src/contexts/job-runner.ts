import { Database, describeError, type Job, jobState, repeat, runJob } from '@animal-store/database';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Logger } from 'pino';
import { Draining } from '../http/connection.js';
import { withDeadline } from '../observability/deadline.js';
import { LOGGER } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';

/** Maximum time between two reads of the state of a job. */
const MAX_PAUSE_MS = 60_000;
const START_POLL_MS = 1_000;
/** Processes start a due job at different times within a tenth of its period and this time. Usually only one then requests the lock. */
const MAX_JITTER_MS = 1_000;
/** Maximum time of a run whose period is shorter. Without one, a run that never ends would be the last one. */
const MAX_RUN_MS = 3_600_000;
/** Greatest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface UseCase {
  execute(): unknown;
}

/** A job of a context. The use case is a provider of the context's module. */
export interface ScheduledJob extends Job {
  readonly useCase: Type<UseCase>;
}

/** The token of the jobs of all contexts. */
export const SCHEDULED_JOBS = Symbol('scheduled jobs');

/** Runs the jobs of all contexts: each in one process of the deployment at a time, and once per period. */
@Injectable()
export class JobRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private loops: readonly Promise<void>[] = [];
  private isFailureReported = false;
  private readonly maxRunMs = MAX_RUN_MS;

  constructor(
    @Inject(SCHEDULED_JOBS) private readonly jobs: readonly ScheduledJob[],
    private readonly moduleRef: ModuleRef,
    private readonly database: Database,
    private readonly draining: Draining,
    private readonly metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const names = new Set<string>();
    for (const { name, every } of jobs) {
      if (names.has(name)) throw new Error(`Two jobs are named ${name}.`);
      if (!(every > 0)) throw new Error(`The period of the job ${name} must be a positive number of milliseconds.`);
      names.add(name);
      metrics.jobPeriods.set({ job_name: name }, every / 1000);
      metrics.jobSuccesses.set({ job_name: name }, Date.now() / 1000);
    }
  }

  onApplicationBootstrap(): void {
    const useCases = this.jobs.map((job) => [job, this.moduleRef.get(job.useCase, { strict: false })] as const);
    this.loops = useCases.map(([job, useCase]) => repeat(this.stopping.signal, () => this.runIfDue(job, useCase)));
  }

  /** Starts no more runs, and waits for those in progress. The database is still connected. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops);
  }

  /** Returns the time until the next check. */
  private async runIfDue(job: Job, useCase: UseCase): Promise<number> {
    const { database, draining, metrics, logger } = this;
    const pauseMs = Math.min(job.every, MAX_PAUSE_MS);
    if (!database.hasOpened || draining.isActive) return Math.min(pauseMs, START_POLL_MS);
    try {
      const { dueInMs, succeededAt } = await jobState(database, job);
      if (succeededAt) metrics.jobSuccesses.set({ job_name: job.name }, succeededAt.getTime() / 1000);
      if (dueInMs > 0) return Math.min(dueInMs + Math.random() * Math.min(job.every / 10, MAX_JITTER_MS), MAX_PAUSE_MS);
      const hasRun = await runJob(database, job, () => this.run(job, useCase));
      this.isFailureReported = false;
      // After a run, the state is read again at once.
      return hasRun ? 0 : pauseMs;
    } catch (error) {
      if (!this.isFailureReported)
        logger.warn({ reason: describeError(error) }, 'jobs do not run until their state can be read and written');
      this.isFailureReported = true;
      return pauseMs;
    }
  }

  /** Returns whether the use case succeeded. */
  private async run({ name: job, every }: Job, useCase: UseCase): Promise<boolean> {
    const { metrics, logger } = this;
    const endTimer = metrics.jobDurations.startTimer({ job_name: job });
    const end = (outcome: 'success' | 'failure') => ({ job, durationMs: Math.round(1000 * endTimer({ outcome })) });
    logger.debug({ job }, 'job started');
    try {
      const maxMs = Math.min(Math.max(every, this.maxRunMs), MAX_TIMER_MS);
      const run = async () => {
        await useCase.execute();
        return true;
      };
      if (!(await withDeadline(run(), maxMs)))
        throw new Error(`The run did not end within ${String(maxMs)} ms. It may still be in progress.`);
      logger.debug(end('success'), 'job succeeded');
      return true;
    } catch (error) {
      logger.error({ ...end('failure'), err: error }, 'job failed');
      return false;
    }
  }
}
