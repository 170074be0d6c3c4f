import { poolOf } from '@animal-store/database';
import { Public } from '@animal-store/http-contract';
import { Controller, Get, Header, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DataSource } from 'typeorm';

interface Health {
  readonly status: 'ok';
}

/** For load balancers and orchestrators. A probe that fails answers with the error shape. */
@ApiExcludeController()
@Controller({ path: 'health', version: VERSION_NEUTRAL })
@Public()
export class HealthController {
  constructor(private readonly dataSource: DataSource) {}

  /** The process runs. */
  @Get('live')
  @Header('Cache-Control', 'no-store')
  live(): Health {
    return { status: 'ok' };
  }

  /** Requests can be served: the database answers. */
  @Get('ready')
  @Header('Cache-Control', 'no-store')
  async ready(): Promise<Health> {
    await poolOf(this.dataSource).query('SELECT 1');
    return { status: 'ok' };
  }
}
