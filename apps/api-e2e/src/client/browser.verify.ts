import { describe } from '@jest/globals';
import { describeCalls, describeLimits, describeRetries, FAULTS, inBrowser, useClientSetUp } from './describe-client.js';

// `npm test` runs all of these tests in Node.js, and those that depend on the environment also in a browser.

useClientSetUp();

describe('in a browser', () => {
  describeCalls(inBrowser);
  describeRetries(inBrowser, FAULTS);
  describeLimits(inBrowser);
});
