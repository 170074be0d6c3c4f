/** What a command may use of its process. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}
