import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { unknownKey } from '../support/keys.js';
import { Outage } from '../support/outage.js';

let outage: Outage;

beforeEach(async () => {
  outage = await Outage.prepare();
});
afterEach(() => outage.end());

it('without a database that responds, requests get 503; later it serves, again after another outage, and exits during one', async () => {
  const { proxy } = outage;
  proxy.slowDown(600_000);
  const service = await outage.start({ DATABASE_CONNECT_TIMEOUT_MS: '1000' });
  await outage.expectWaiting();
  await proxy.cut();
  proxy.slowDown(0);
  await outage.expectWaiting();
  await proxy.restore();
  const key = await outage.expectServing();
  // One line for each. On a busy machine, the process may lose its first connection to the time limit.
  await waitFor(() => expect(outage.count('connected to the database')).toBeGreaterThanOrEqual(1));
  await waitFor(() => expect(outage.count('connected to the database')).toBe(outage.count('cannot be used')));

  await proxy.cut();
  await outage.expectUnavailable(key);
  // Not 401 either, unless the database is not needed to reject a key.
  await outage.expectUnavailable(unknownKey(key));
  expect(await outage.get('/v1/pets', `${key}x`)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  await proxy.restore();
  await outage.expectServing();

  await proxy.cut();
  await outage.expectUnavailable(key);
  expect(await service.stop()).toBe(0);
});
