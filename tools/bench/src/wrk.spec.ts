import { expect, it } from '@jest/globals';
import { parseWrk } from './wrk.js';

const OUTPUT = `Running 3s test @ http://127.0.0.1:3000
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.41ms    1.20ms  31.07ms   91.20%
  30000 requests in 3.00s, 60.10MB read

RESULT {"requests":30000,"microseconds":3000000,"p50":6250,"p99":12500,"badStatuses":2,"socketErrors":1}
`;

it('parses the output of the wrk script', () => {
  expect(parseWrk(OUTPUT, 1_500)).toEqual({ requests: 30_000, seconds: 3, p50Ms: 6.25, p99Ms: 12.5, errors: 3, generatorCpu: 0.5 });
});

it('throws with the output of wrk if there is no result', () => {
  expect(() => parseWrk('unable to connect to 127.0.0.1:1\n', 0)).toThrow('wrk printed no result: unable to connect to 127.0.0.1:1');
});
