const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

/** What has to be undone whichever way the program ends, last first. */
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

  /** A step that fails does not keep the others from being done. */
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
