import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';
import { WorkerGroup } from './worker-messages.js';

/** Probes, and whether this process should receive requests. */
@Module({ controllers: [HealthController], providers: [Readiness, WorkerGroup] })
export class HealthModule {}
