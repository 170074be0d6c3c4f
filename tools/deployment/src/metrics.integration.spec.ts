import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseMetrics } from './testing/exported-metrics.js';
import { queries, rules } from './testing/files.js';
import { ObservedService } from './testing/observed-service.js';
import { type Matcher, parseQuery } from './testing/queries.js';

/** Labels that Prometheus adds to every series of a target. */
const TARGET_LABELS = ['job', 'namespace', 'instance'];

let service: ObservedService;
let exported: ReturnType<typeof parseMetrics>;

beforeAll(async () => {
  service = await ObservedService.start();
  await service.sendRequests();
  exported = await waitFor(async () => {
    const metrics = parseMetrics(await service.metrics());
    // A response is counted after it is sent.
    expect(metrics.get('http_requests_shed_total')?.get('reason')).toContain('pipelined');
    expect(metrics.get('http_request_duration_seconds_count')?.get('status')).toEqual(new Set(['200', '201', '401', '503']));
    // Prometheus creates `up`.
    return new Map([...metrics, ['up', new Map()]]);
  });
});

afterAll(() => service.stop());

const recorded = rules.flatMap(({ record }) => record ?? []);
const isRecorded = (metric: string) => recorded.includes(metric);

describe.each(queries.map(({ usedIn, ...query }) => [usedIn, query] as const))('%s', (_usedIn, { expr, text }) => {
  const { selectors, grouping } = parseQuery(expr);
  const read = selectors.filter(({ metric }) => !isRecorded(metric));

  it('reads metrics that the service exports, or that are recorded', () => {
    expect(read.map(({ metric }) => metric).filter((metric) => !exported.has(metric))).toEqual([]);
  });

  it('selects the targets of the service', () => {
    for (const { matchers } of read) expect(matchers).toContainEqual({ label: 'job', operator: '=', value: 'animal-store' });
  });

  it('matches labels and values that the metrics have', () => {
    const unknown = read.flatMap(({ metric, matchers }) =>
      matchers
        .filter(({ label }) => !TARGET_LABELS.includes(label))
        .filter((matcher) => ![...(exported.get(metric)?.get(matcher.label) ?? [])].some((value) => namesValue(matcher, value)))
        .map((matcher) => ({ metric, ...matcher })),
    );
    expect(unknown).toEqual([]);
  });

  it('groups by labels, and names labels, that the metrics have', () => {
    const labels = new Set([...TARGET_LABELS, ...read.flatMap(({ metric }) => [...(exported.get(metric)?.keys() ?? [])])]);
    const named = [...text.matchAll(/\{\{\s*(\w+)[^}]*\}\}/g)].map(([, label = '']) => label);
    for (const label of [...grouping, ...named]) expect(labels).toContain(label);
  });
});

it('every metric that the service defines is used', () => {
  const used = new Set(queries.flatMap(({ expr }) => parseQuery(expr).selectors.map(({ metric }) => metric)));
  const base = (metric: string) => metric.replace(/_(?:bucket|sum|count)$/, '');
  const names = new Set([...used].map(base));
  const unused = [...exported.keys()].map(base).filter((metric) => !/^(?:nodejs|process)_/.test(metric) && !names.has(metric));
  expect(unused).toEqual([]);
});

it('every recorded ratio is used', () => {
  const used = new Set(queries.flatMap(({ expr }) => parseQuery(expr).selectors.map(({ metric }) => metric)));
  expect(recorded.filter((metric) => !used.has(metric))).toEqual([]);
});

/** Returns whether the matcher names the value, to select or to exclude it. */
function namesValue({ operator, value: pattern }: Matcher, value: string): boolean {
  return operator.endsWith('~') ? new RegExp(`^(?:${pattern})$`).test(value) : pattern === value;
}
