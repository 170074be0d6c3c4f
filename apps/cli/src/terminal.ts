/** The parts of the process that a command may use. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Asks the user. Undefined without a terminal, as in a pipe. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}
