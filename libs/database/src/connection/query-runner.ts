import type { DataSource, ReplicationMode } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

/** TypeORM's query runner as `DataSource.createQueryRunner` returns it, for subclasses that override `query`. */
export class DatabaseQueryRunner extends PostgresQueryRunner {
  constructor(dataSource: DataSource, mode: ReplicationMode = 'master') {
    super(dataSource.driver as PostgresDriver, mode);
    this.manager = dataSource.createEntityManager(this);
  }
}
