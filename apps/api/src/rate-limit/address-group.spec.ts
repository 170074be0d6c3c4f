import { expect, it } from '@jest/globals';
import { addressBucket, addressGroup } from './address-group.js';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::7', '2001:db8:0:0'],
  ['2001:db8::3:4:5:6', '2001:db8:0:0'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['[2001:db8:1:2::7]:443', '2001:db8:1:2'],
  ['[::ffff:192.0.2.7]:443', '192.0.2.7'],
  ['"[2001:db8:1:2::7]:443"', '2001:db8:1:2'],
  ['[fe80::1%eth0]:443', 'fe80:0:0:0'],
  ['not an address', 'unknown'],
  ['192.0.2.7:port', 'unknown'],
  ['192.0.2.7.8', 'unknown'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

it('addresses share 16,384 buckets, but few addresses share one', () => {
  const buckets = Array.from({ length: 200 }, (_, i) => addressBucket(`192.0.2.${String(i)}`));
  expect(new Set(buckets).size).toBeGreaterThan(195);
  for (const bucket of buckets) expect(Number(bucket)).toBeLessThan(16_384);
  expect(addressBucket('2001:db8::1')).toBe(addressBucket('2001:db8::2'));
});
