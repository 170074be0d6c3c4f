import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

/** Probes, and whether this process should receive requests. */
@Module({ controllers: [HealthController], providers: [Readiness] })
export class HealthModule {}
