import { isIP } from 'node:net';

/** An IP address, or a range of them: `10.0.0.0/8`. */
export function isCidr(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^(?:0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
