import { isIPv4 } from 'node:net';
import { crc32 } from 'node:zlib';
import ipaddr from 'ipaddr.js';

/** Number of 16-bit groups in a /64 network, the usual network of a subscriber. */
const NETWORK_GROUPS = 4;

/** An IPv4 address or an IPv6 address in brackets, with or without a port, as some proxies forward it. */
const WITH_PORT = /^"?(?:([\d.]+)|\[([^\]]+)\])(?::\d+)?"?$/;

/** Returns what counts as one address: an IPv4 address, or the /64 network of an IPv6 address. A port does not matter. */
export function addressGroup(addressWithPort: string): string {
  // Fast path: most addresses are IPv4.
  if (isIPv4(addressWithPort)) return addressWithPort;
  const address = addressWithPort.replace(WITH_PORT, '$1$2');
  // A trusted proxy may forward any text.
  if (!ipaddr.isValid(address)) return 'unknown';
  const ip = ipaddr.process(address);
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  return ip.parts
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(':');
}

/** Limits the number of counters, and so the memory they need in this process and in Redis. */
const BUCKETS = 16_384;

/** Returns the name of the bucket in which an address is counted. Different addresses may share one. */
export function addressBucket(address: string): string {
  return String(crc32(addressGroup(address)) % BUCKETS);
}
