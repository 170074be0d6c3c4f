import { describe } from '@jest/globals';
import {
  CONNECTION_FAULTS,
  describeCalls,
  describeLimits,
  describeRetries,
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
