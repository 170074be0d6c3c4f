import { Random } from './random.js';
import { describe, expect, it } from '@jest/globals';
import type { ScenarioResult } from './bench.js';
import { judge, judgeScale } from './goals.js';
import { httpRequest, rawRequest, withSerial } from './http-requests.js';
import { parseWrk } from './load.js';
import { cpuMs, type Measurement, median, perSecond, ratio, spread } from './measurement.js';
import { mixedSpread, mixedTable, replaceSection } from './performance-page.js';
import { goalTables, metricTables, number, reportScale } from './report.js';
import { SERIAL, Zipf } from './workloads.js';

const measured = (perSecond: number, cpu = 5): Measurement => {
  return { perSecond, p50Ms: 1, p99Ms: 2, errors: 1, serviceCpu: cpu, postgresCpu: cpu, residentMb: 120 };
};

describe('the requests', () => {
  const list = { operation: 'list', key: 1, limit: 10, status: 'sold', after: 7, cursor: 'opaque' } as const;
  const create = { operation: 'create', key: 0, name: `Pet ${SERIAL}`, categoryId: 3, status: 'available' } as const;

  it('for a page have the parameters of each target', () => {
    const headers = { Authorization: 'Bearer b' };
    expect(httpRequest(list, 'cursor', ['a', 'b'])).toEqual({
      method: 'GET',
      path: '/v1/pets?limit=10&status=sold&cursor=opaque',
      headers,
    });
    expect(httpRequest(list, 'after', ['a', 'b'])).toEqual({ method: 'GET', path: '/v1/pets?limit=10&status=sold&after=7', headers });
    expect(httpRequest({ operation: 'list', key: 1, limit: 5 }, 'after', ['a', 'b']).path).toBe('/v1/pets?limit=5');
  });

  it('have the Content-Length of the body with its serial number', () => {
    const request = httpRequest(create, 'after', ['a']);
    const body = withSerial(request.body ?? '', 42);
    expect(JSON.parse(body)).toEqual({ name: 'Pet 00000042', categoryId: 3, status: 'available' });
    const raw = rawRequest(request, 'localhost:1');
    expect(raw).toMatch(/^POST \/v1\/pets HTTP\/1\.1\r\nHost: localhost:1\r\n/);
    expect(raw).toContain(`\r\nContent-Length: ${body.length}\r\n\r\n{`);
  });

  it('for pages start at rank r 1 / (r + 1) times as often as at rank 0', () => {
    const zipf = new Zipf(4);
    const random = new Random(1);
    const ranks = Array.from({ length: 100_000 }, () => zipf.rank(random.next()));
    const drawn = (wanted: number) => ranks.filter((rank) => rank === wanted).length;
    for (const rank of [1, 2, 3]) expect(drawn(rank) / drawn(0)).toBeCloseTo(1 / (rank + 1), 1);
    expect([0, 1 - Number.EPSILON].map((uniform) => new Zipf(200).rank(uniform))).toEqual([0, 199]);
  });
});

describe('the measurements', () => {
  const ratioOf = (target: readonly number[], peer: readonly number[]) =>
    ratio({ target: target.map((value) => measured(value)), peer: peer.map((value) => measured(value)) }, 'target', 'peer', perSecond);

  it('are read from the result of the Lua script among the lines of wrk', () => {
    const result = { requests: 30_000, seconds: 3, p50Ms: 6.25, p99Ms: 12.5, errors: 3 };
    expect(parseWrk(`  30000 requests in 3.00s, 60.10MB read\n\nRESULT ${JSON.stringify(result)}\n`)).toEqual(result);
    expect(() => parseWrk('unable to connect to 127.0.0.1:1\n')).toThrow('wrk printed no result: unable to connect to 127.0.0.1:1');
  });

  it('have the CPU time of /proc/<pid>/stat, also with spaces and brackets in the name', () => {
    expect(cpuMs('7 (io (worker) 1) S 1 7 7 0 -1 64 5 0 0 0 11 22 33 44 20 0 1')).toBe(1_100);
  });

  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 9, 1, 2], 5.5],
    [[], NaN],
  ])('%j have the median %d', (numbers, expected) => expect(median(numbers)).toBe(expected));

  it('have as spread their range divided by the median', () => {
    expect(spread([8, 10, 12])).toBeCloseTo(0.4);
  });

  it('are compared by the median of the ratios, not by the ratio of the medians', () => {
    expect(ratioOf([2, 20, 6], [1, 10, 4])).toBe(2);
    // The medians alone would give 6 / 4.
    expect(ratioOf([2, 20, 6], [4, 10, 1])).toBe(2);
  });

  it('are compared without rounds that one side lacks, and without division by zero', () => {
    expect(ratioOf([4, 6], [2])).toBe(2);
    expect(ratioOf([4, 6], [0, 2])).toBe(3);
    expect(ratioOf([], [1])).toBeNaN();
  });
});

describe('the goals', () => {
  const own = [measured(20_000, 10), measured(10_000, 10)];
  const judgeAgainst = (peer: readonly Measurement[]) =>
    judge([{ workload: 'list', connections: 64, rounds: { 'animal-store': own, 'go-pgx': peer }, failures: {} }]);

  it('compare with the ratio of the rounds', () => {
    expect(judgeAgainst([measured(10_000, 40), measured(5_000, 40)])).toEqual([
      { goal: 'requests/s ÷ go-pgx', workload: 'list', measured: 2, required: '≥ 1.75', met: true },
      { goal: 'CPU per request ÷ go-pgx', workload: 'list', measured: 0.25, required: '≤ 0.32', met: true },
      { goal: 'p99 ÷ go-pgx', workload: 'list', measured: 1, required: '≤ 1', met: true },
      { goal: 'memory of a process under load, MB', measured: 120, required: '≤ 150', met: true },
    ]);
    expect(judgeAgainst([measured(20_000, 5), measured(10_000, 5)]).map(({ met }) => met)).toEqual([false, false, true, true]);
  });

  it('compare the cost at the most rows with the cost at the fewest, in requests/s or, at one connection, latency', () => {
    const rounds = { '1000': [measured(2_000)], '10000': [measured(1_000)] };
    const results = [64, 1].map((connections) => ({ workload: 'get', connections, rounds, failures: {} }));
    expect(judgeScale(results)).toEqual([
      { goal: 'get with 64 connections, ratio of the cost at 10,000 rows', measured: 2, required: '≤ 1.2', met: false },
      { goal: 'get with 1 connection, ratio of the cost at 10,000 rows', measured: 1, required: '≤ 1.2', met: true },
    ]);
  });
});

describe('the report', () => {
  const cells = (row = '') => row.split('|').map((cell) => cell.trim());

  it('has one row per goal, with missed goals in bold', () => {
    const verdicts = [
      { goal: 'p99 ÷ go-pgx', workload: 'list', measured: 0.5, required: '≤ 1', met: true },
      { goal: 'p99 ÷ go-pgx', workload: 'create', measured: 1.5, required: '≤ 1', met: false },
      { goal: 'start, ms', measured: 395, required: '≤ 1000', met: true },
    ];
    const [rows = '', other] = goalTables(verdicts);
    const [header, , row] = rows.split('\n');
    expect(cells(header)).toEqual(['', 'goal', 'list', 'list-mixed', 'get', 'mixed', 'create', '']);
    expect(cells(row)).toEqual(['', 'p99 ÷ go-pgx', '0.50 (≤ 1)', '–', '–', '–', '**1.50** (≤ 1)', '']);
    expect(other).toBe('- start, ms: 395 (≤ 1000)');
  });

  it('has one row per target and one column per workload', () => {
    const scenario = (workload: string, rounds: ScenarioResult['rounds']) => ({ workload, connections: 64, rounds, failures: {} });
    const [summary, ...tables] = metricTables([
      scenario('list', { 'nest-constant': [measured(10), measured(20)], 'go-pgx': [measured(5)] }),
      scenario('get', { 'go-pgx': [measured(7)] }),
    ]);
    expect(summary).toBe(
      'Each cell shows the median of the rounds. There were 4 errors. ' +
        'For each target, the fastest and the slowest round differ by at most 67 % of the median requests per second.',
    );
    const rowsOf = (title: string) => tables[tables.indexOf(`### ${title}`) + 1]?.split('\n').slice(2).map(cells);
    expect(rowsOf('Requests per second, 64 connections')).toEqual([
      ['', 'go-pgx', '5.00', '7.00', ''],
      ['', 'nest-constant', '15.0', '–', ''],
    ]);
    expect(rowsOf('CPU of PostgreSQL, ms per 1,000 requests')).toEqual([['', 'go-pgx', '5.00', '5.00', '']]);
    expect(tables).not.toContain('### Median latency, ms, 1 connection');
  });

  it.each([
    [12_345.6, '12,346'],
    [12.34, '12.3'],
    [0.126, '0.13'],
    [NaN, '–'],
  ])('formats %d as %s', (value, text) => expect(number(value)).toBe(text));

  it('has the main targets for README.md, with the CPU time of service and PostgreSQL', () => {
    const rounds = { 'go-pgx': [measured(10), measured(30), measured(20)], 'nest-constant': [measured(99)] };
    const [, , ...rows] = mixedTable([{ workload: 'mixed', connections: 64, rounds, failures: {} }])
      .split('\n')
      .map(cells);
    expect(rows).toHaveLength(5);
    expect(rows[2]).toEqual(['', 'go-pgx', '20.0', '10.0', '2.00', '']);
    expect(rows[4]).toEqual(['', 'stock-nest', '–', '–', '–', '']);
  });

  it('has the spread of the main targets for README.md', () => {
    const rounds = { 'go-pgx': [measured(10), measured(12), measured(11)], 'nest-constant': [measured(10), measured(99)] };
    const scenario = (workload: string, of: ScenarioResult['rounds']) => ({ workload, connections: 64, rounds: of, failures: {} });
    expect(mixedSpread([scenario('mixed', rounds), scenario('list', { 'go-pgx': [measured(1), measured(9)] })])).toBe(
      'For each target, the fastest and the slowest round differ by at most 18 % of the median requests per second.',
    );
  });

  it('names the origin and the missed goals of a run with several numbers of rows', () => {
    const scenario = (workload: string, cost: number): ScenarioResult => {
      return { workload, connections: 64, rounds: { '1000': [measured(1_000)], '10000': [measured(1_000 / cost)] }, failures: {} };
    };
    const { goals, results } = reportScale({
      measuredAt: '2026-01-31T12:00:00.000Z',
      machine: { cpu: 'a CPU', cores: 2, node: 'v26.0.0' },
      generator: 'wrk',
      options: { rounds: 3, seconds: 2, seed: 1 },
      scenarios: [scenario('get', 2), scenario('first page', 1)],
    });
    expect(goals).toEqual([
      '1 of the 2 goals are met. The list shows the missed goals.',
      '- get with 64 connections, ratio of the cost at 10,000 rows: **2.00** (≤ 1.2)',
    ]);
    expect(results[0]).toBe(
      'The bench ran 3 rounds of 2 s on 2 cores (a CPU), with Node.js v26.0.0, on 2026-01-31. ' +
        'The column for the fewest rows has the cost in ms. The columns for more rows have the ratio to this cost.',
    );
    expect(cells(results[1]?.split('\n')[2])).toEqual(['', 'get, 64', '1.000', '2.00', '']);
  });

  it('replaces only the text between the markers of a page', () => {
    const page = '# Performance\n\n<!-- bench: written by a command -->\n\nold\n\n<!-- end of bench -->\n\n## Log\n\nBy hand.\n';
    expect(replaceSection(page, 'bench', 'new')).toBe(page.replace('old', 'new'));
    expect(() => replaceSection(page, 'scale', 'new')).toThrow('The page has no markers of the section scale.');
  });
});
