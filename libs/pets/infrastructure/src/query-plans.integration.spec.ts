import { describe } from '@jest/globals';
import { describeQueryPlans } from './testing/describe-query-plans.js';

describe('the statements of a catalogue of 100,000 pets', () => {
  describeQueryPlans(100_000);
});
