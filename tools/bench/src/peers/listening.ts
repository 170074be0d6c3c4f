/** Tells the parent process where this peer listens; the peer in Go does it with the same words. */
export function tellPort(port: number): void {
  console.log(`listening ${port}`);
}

export function requiredVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
