/** Prints the port of this peer for the parent process. The peer in Go prints the same text. */
export function printPort(port: number): void {
  console.log(`listening ${port}`);
}

/** @throws Error if the environment variable is not set */
export function requiredVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
