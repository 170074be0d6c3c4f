import { expect, it } from '@jest/globals';
import { addressBucket, addressGroup } from './address-group.js';

// Promise (Rate limits): An IPv6 /64 counts as one address.
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
  ['not an address', 'unknown'],
  ['192.0.2.7.8', 'unknown'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

it('addresses share a limited number of buckets, but few addresses share one', () => {
  const networks = Array.from({ length: 40_000 }, (_, i) =>
    addressBucket(`2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::1`),
  );
  expect(new Set(networks).size).toBeLessThanOrEqual(16_384);
  const addresses = Array.from({ length: 200 }, (_, i) => addressBucket(`192.0.2.${String(i)}`));
  expect(new Set(addresses).size).toBeGreaterThan(195);
});
