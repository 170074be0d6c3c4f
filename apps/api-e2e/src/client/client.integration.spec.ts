import { describe, expect, it } from '@jest/globals';
import { clientCalls } from './client-calls.js';
import {
  CONNECTION_FAULTS,
  describeCalls,
  describeLimits,
  describeRetries,
  direct,
  FAULTS,
  inBrowser,
  inNodeJs,
  useClientSetUp,
} from './describe-client.js';

useClientSetUp();

describe('in Node.js', () => {
  describeCalls(inNodeJs);
  describeRetries(inNodeJs, FAULTS);
  describeLimits(inNodeJs);
});

describe('in a browser', () => {
  describeCalls(inBrowser);
  describeRetries(inBrowser, CONNECTION_FAULTS);
});

describe('the options of a client', () => {
  it.each([
    ['apiKey', { apiKey: '', baseURL: 'http://localhost' }, 'apiKey is required'],
    ['baseURL', { apiKey: 'key', baseURL: '' }, 'baseURL is required'],
  ])('require %s', async (_option, target, message) => {
    await expect((async () => clientCalls.createWithDefaults(target))()).rejects.toThrow(message);
  });

  it('accept a base URL with a path and a trailing slash', async () => {
    const { apiKey, baseURL } = direct();
    const failure = await clientCalls.listFailure({ apiKey, baseURL: `${baseURL}/animals/` }, {});
    expect(failure).toMatchObject({ status: 404, code: 'route_not_found' });
  });
});
