const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

/** Clean-up steps, run in reverse order, also on SIGINT and SIGTERM. */
export class CleanUp {
  private readonly steps: (() => Promise<unknown> | void)[] = [];
  private ending: Promise<void> | undefined;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => void this.run().finally(() => process.exit(EXIT_CODES[signal])));
    }
  }

  add(step: () => Promise<unknown> | void): void {
    this.steps.push(step);
  }

  /** Runs all steps. A failed step does not stop the others. */
  run(): Promise<void> {
    return (this.ending ??= this.runSteps());
  }

  private async runSteps(): Promise<void> {
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      try {
        await step();
      } catch (error) {
        console.error(error);
      }
    }
  }
}
