import { describe } from '@jest/globals';
import { describeQueryPlans } from './describe-query-plans.js';

describe('the statements of a catalogue of a million pets', () => {
  describeQueryPlans(1_000_000);
});
