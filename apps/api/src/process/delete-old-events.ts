import { deleteOldEvents } from '@animal-store/database';
import type { DataSource } from 'typeorm';

/** Deletes old events that every subscription has handled. */
export class DeleteOldEvents {
  constructor(private readonly dataSource: DataSource) {}

  async execute(): Promise<void> {
    await deleteOldEvents(this.dataSource);
  }
}
