import { exactFetch } from './exact-json';

/** The `mutator` of Orval. */
export async function send<T>(path: string, options: RequestInit): Promise<T> {
  const headers = { ...options.headers, Authorization: `Bearer ${process.env['API_KEY']}` };
  const response = await exactFetch(`${process.env['BASE_URL']}/v1${path}`, { ...options, headers });
  return { status: response.status, data: await response.json(), headers: response.headers } as T;
}
