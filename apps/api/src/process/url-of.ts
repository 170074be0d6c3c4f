/** Returns the URL of a server that listens on this address, for example http://localhost:3000. */
export function urlOf({ address, port }: { address: string; port: number }): string {
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address) ? 'localhost' : address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}
