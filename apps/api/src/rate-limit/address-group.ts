import { isIPv4, isIPv6 } from 'node:net';

const IPV4_MAPPED = /^::ffff:([0-9.]+)$/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** What counts as one address: of IPv6 the /64 network, all of which one subscriber has. */
export function addressGroup(address: string): string {
  const ipv4 = IPV4_MAPPED.exec(address)?.[1] ?? address;
  if (isIPv4(ipv4)) return ipv4;
  return isIPv6(address) ? networkOf(address) : 'unknown';
}

function networkOf(ipv6: string): string {
  const [head = '', tail] = ipv6.split('::');
  const first = head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - first.length - last.length);
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, NETWORK_GROUPS);
  return groups.map((group) => Number.parseInt(group || '0', 16).toString(16)).join(':');
}
