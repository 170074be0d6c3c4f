import { Controller, Get, Header, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Operational } from '../authentication/guards.js';
import { Readiness } from './readiness.js';

@ApiExcludeController()
@Controller({ path: 'health', version: VERSION_NEUTRAL })
@Operational()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** Responds with 200 as long as the process runs. */
  @Get('live')
  @Header('cache-control', 'no-store')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Responds with 200 if the database is connected and migrated, and the process is not draining, otherwise with 503. */
  @Get('ready')
  @Header('cache-control', 'no-store')
  async ready(): Promise<{ status: 'ok' }> {
    await this.readiness.check();
    return { status: 'ok' };
  }
}
