/** The parts of the process that the program uses. */
export interface ProcessTerminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Asks the user. Undefined without a terminal, as in a pipe. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** The parts of the process that a command may use. */
export interface Terminal extends ProcessTerminal {
  /** Standard output for new keys: unlike `stdout`, it also throws if the reader has closed the pipe, as `head` does. */
  readonly keyOutput: Output;
}

export interface Output {
  readonly isTTY?: boolean;
  /** Whether nobody can read the text, as on /dev/null. */
  readonly isDiscarded?: boolean;
  /** Throws if the text cannot be written. */
  write(text: string): unknown;
}
