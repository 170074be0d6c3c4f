import { expect, it } from '@jest/globals';
import { parseWrk } from './load.js';

it('reads the result of the Lua script among the lines of wrk', () => {
  const result = { requests: 30_000, seconds: 3, p50Ms: 6.25, p99Ms: 12.5, errors: 3 };
  expect(parseWrk(`  30000 requests in 3.00s, 60.10MB read\n\nRESULT ${JSON.stringify(result)}\n`)).toEqual(result);
  expect(() => parseWrk('unable to connect to 127.0.0.1:1\n')).toThrow('wrk printed no result: unable to connect to 127.0.0.1:1');
});
