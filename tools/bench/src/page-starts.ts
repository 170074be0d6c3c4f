import { httpRequest } from './http-requests.js';
import type { PageStart, Status } from './workloads.js';

const PAGE_LIMIT = 100;

interface PageStartsOptions {
  readonly url: string;
  readonly key: string;
  readonly status: Status | undefined;
  readonly pages: number;
}

/** Follows the next links of a running service, because only the service can create its cursors. */
export async function findPageStarts({ url, key, status, pages }: PageStartsOptions): Promise<PageStart[]> {
  const starts: PageStart[] = [];
  let start: PageStart | undefined = { status };
  while (start && starts.length < pages) {
    starts.push(start);
    const { path, headers } = httpRequest({ operation: 'list', key: 0, limit: PAGE_LIMIT, ...start }, 'cursor', [key]);
    const response = await fetch(url + path, { headers });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}: ${body}`);
    const cursor = /[?&]cursor=([^&>]+)/.exec(response.headers.get('link') ?? '')?.[1];
    const after = (JSON.parse(body) as { id: number }[]).at(-1)?.id;
    start = cursor === undefined ? undefined : { status, after, cursor };
  }
  return starts;
}
