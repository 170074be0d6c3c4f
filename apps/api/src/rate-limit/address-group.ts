import { isIPv4 } from 'node:net';
import { crc32 } from 'node:zlib';
import ipaddr from 'ipaddr.js';

/** Groups of 16 bits in the /64 network that a subscriber has. */
const NETWORK_GROUPS = 4;

/** Returns what counts as one address: an IPv4 address, or the /64 network of an IPv6 address. */
export function addressGroup(address: string): string {
  // Most addresses; the library would parse each.
  if (isIPv4(address)) return address;
  // A trusted proxy may forward any text.
  if (!ipaddr.isValid(address)) return 'unknown';
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return ip.toString();
  return (ip as ipaddr.IPv6).parts
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(':');
}

/** Bounds the memory of counters, here, in the supervisor and in Redis, however many addresses there are. */
const BUCKETS = 16_384;

/** Returns one of `BUCKETS` names under which an address is counted. Few addresses share one. */
export function addressBucket(address: string): string {
  return String(crc32(addressGroup(address)) % BUCKETS);
}
