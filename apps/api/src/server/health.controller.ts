import { DatabaseConnection, isMigrated } from '@animal-store/database';
import { Public } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { Controller, Get, Header, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { Draining } from './draining.js';

/** How long a probe waits for the database. Shorter than `readinessProbe.timeoutSeconds` of the Helm chart. */
const PROBE_TIMEOUT_MS = 2_000;

interface Health {
  readonly status: 'ok';
}

/** Health probes for load balancers and orchestrators. */
@ApiExcludeController()
@Controller({ path: 'health', version: VERSION_NEUTRAL })
@Public()
export class HealthController {
  private probe: Promise<boolean> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly connection: DatabaseConnection,
    private readonly draining: Draining,
  ) {}

  /** Responds with 200 as long as the process runs. */
  @Get('live')
  @Header('cache-control', 'no-store')
  live(): Health {
    return { status: 'ok' };
  }

  /** Responds with 200 if the database is connected and migrated and the process is not draining, otherwise with 503. */
  @Get('ready')
  @Header('cache-control', 'no-store')
  async ready(): Promise<Health> {
    if (this.draining.isActive) throw new DomainError(SERVICE_UNAVAILABLE, 'The process is shutting down.');
    if (!this.connection.isOpen) throw new DomainError(SERVICE_UNAVAILABLE, 'The database is not connected or not migrated yet.');
    if (!(await this.isMigrated())) throw new DomainError(SERVICE_UNAVAILABLE, 'Migrations are pending.');
    return { status: 'ok' };
  }

  /** Concurrent probes share one query and its timeout, because anyone can send many of them without an API key. */
  private isMigrated(): Promise<boolean> {
    this.probe ??= this.query().finally(() => {
      this.probe = undefined;
    });
    return this.probe;
  }

  private async query(): Promise<boolean> {
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new DomainError(SERVICE_UNAVAILABLE, 'The database does not respond.'));
    }, PROBE_TIMEOUT_MS).unref();
    try {
      return await Promise.race([isMigrated(this.dataSource), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
