import { isDeepStrictEqual } from 'node:util';
import type { RunningTarget } from './bench.js';
import type { Pet } from './database-server.js';
import { httpRequest, withSerial } from './http-requests.js';
import type { CreateRequest, PetRequest } from './workloads.js';

const SAMPLES = 40;

interface ReceivedResponse {
  readonly status: number;
  readonly text: string;
}

/** @throws Error that shows the first wrong response of a sample of the requests */
export async function checkResponses(running: RunningTarget, requests: readonly PetRequest[]): Promise<void> {
  const { target, service, catalogue } = running;
  const step = Math.max(1, Math.floor(requests.length / SAMPLES));
  const sample = requests.filter((_, index) => index % step === 0);
  for (const [serial, request] of sample.entries()) {
    const { path, method, headers, body } = httpRequest(request, target.paging, catalogue.keys);
    const sent = body === undefined ? {} : { body: withSerial(body, serial) };
    const fail = (problem: string, { status, text }: ReceivedResponse) => {
      throw new Error(`${method} ${path}: ${problem}: ${status} ${text.slice(0, 300)}`);
    };
    const response = await fetchText(service.url + path, { method, headers, ...sent });
    if (!(await isCorrect(response, request, serial, running))) fail('wrong response', response);
    if (serial > 0) continue;
    const rejection = await fetchText(service.url + path, { method, headers: { ...headers, Authorization: 'Bearer invalid' }, ...sent });
    if (rejection.status !== 401) fail('an invalid API key was not rejected with 401', rejection);
  }
}

async function isCorrect(
  { status, text }: ReceivedResponse,
  request: PetRequest,
  serial: number,
  { catalogue }: RunningTarget,
): Promise<boolean> {
  if (status !== (request.operation === 'create' ? 201 : 200)) return false;
  const body: unknown = JSON.parse(text);
  switch (request.operation) {
    case 'list':
      return isDeepStrictEqual(body, await catalogue.page(request));
    case 'get':
      return isDeepStrictEqual(body, await catalogue.pet(request.id));
    case 'create':
      return isCreated(body as Pet, request, serial) && isDeepStrictEqual(body, await catalogue.pet((body as Pet).id));
  }
}

function isCreated(body: Pet, { name, categoryId, status }: CreateRequest, serial: number): boolean {
  return body.name === withSerial(name, serial) && body.categoryId === categoryId && body.status === status;
}

async function fetchText(url: string, init: RequestInit): Promise<ReceivedResponse> {
  const response = await fetch(url, init);
  return { status: response.status, text: await response.text() };
}
