import { describe, expect, it } from '@jest/globals';
import { parseQuery } from './testing/queries.js';

describe('parseQuery', () => {
  it('returns metrics, matchers and grouping labels', () => {
    expect(parseQuery('sum by (le) (rate(a_bucket{job="x", status=~"5.."}[5m])) > 1 and absent(up) or recorded:rate5m')).toEqual({
      selectors: [
        {
          metric: 'a_bucket',
          matchers: [
            { label: 'job', operator: '=', value: 'x' },
            { label: 'status', operator: '=~', value: '5..' },
          ],
        },
        { metric: 'up', matchers: [] },
        { metric: 'recorded:rate5m', matchers: [] },
      ],
      grouping: ['le'],
    });
  });

  it.each(['sum(', 'rate(a[5m]', 'a{job=}', 'foo bar'])('rejects %s', (expr) => {
    expect(() => parseQuery(expr)).toThrow('invalid PromQL');
  });
});
