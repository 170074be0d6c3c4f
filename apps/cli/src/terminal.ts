/** What a command may use of its process. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Asks the person at the terminal; absent without one, as in a pipe. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}
