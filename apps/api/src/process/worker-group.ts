/** Reported by the supervisor to each worker. */
export interface GroupState {
  readonly areWorkersReady: boolean;
}

/** Whether all workers of the service are ready. Without a supervisor, the process itself is the group. */
export class WorkerGroup {
  isReady = true;

  /** Not ready until the supervisor reports that all workers are. */
  followSupervisor(): void {
    this.isReady = false;
    process.on('message', ({ areWorkersReady = this.isReady }: Partial<GroupState>) => {
      this.isReady = areWorkersReady;
    });
  }
}
