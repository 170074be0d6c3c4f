import http from 'node:http';
import https from 'node:https';
import { RawConnection } from '@animal-store/test-kit/raw-connection';
import { expect } from '@jest/globals';
import { type HttpResponse, expectCommonHeaders, expectStatus, linksOf } from './http-response.js';
import { expectDocumented } from './openapi-conformance.js';
import { type Pet, readPet, readPets } from './json.js';

export interface ApiTarget {
  /** Public address of the deployment, without `/v1`. */
  readonly baseUrl: string;
  /** A key with the scopes pets:read and pets:write. */
  readonly key: string;
}

export interface RequestOptions {
  /** Values of `Authorization`; null sends none. The default is the key of the target. */
  readonly authorization?: string | readonly string[] | null;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** An array is sent chunked, anything else with a `Content-Length`. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
}

const JSON_BODY = { 'content-type': 'application/json' };

/** HTTP client that sends requests unchanged and checks the common headers of each response. */
export class Api {
  private opened: ApiTarget | undefined;
  private readonly agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };

  open(target: ApiTarget): void {
    this.opened = { ...target, baseUrl: target.baseUrl.replace(/\/+$/, '') };
  }

  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  get target(): ApiTarget {
    if (!this.opened) throw new Error('the suite has no service yet');
    return this.opened;
  }

  get url(): URL {
    return new URL(this.target.baseUrl);
  }

  /** Returns the request target: `path` below the path of the base URL. */
  path(path: string): string {
    return this.url.pathname.replace(/\/$/, '') + path;
  }

  async send(method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
    const response = await this.request(method, this.path(path), options);
    expectCommonHeaders(response);
    expectDocumented(method, path, response);
    return response;
  }

  get(path: string, options?: RequestOptions): Promise<HttpResponse> {
    return this.send('GET', path, options);
  }

  /** Sends the text as the JSON body of createPet. */
  create(body: NonNullable<RequestOptions['body']>, options: RequestOptions = {}): Promise<HttpResponse> {
    return this.send('POST', '/v1/pets', { ...options, body, headers: { ...JSON_BODY, ...options.headers } });
  }

  /** Creates a pet and returns it. Bigints are written exactly. */
  async createPet({ name = 'Rex', categoryId = 7n, status }: Partial<Omit<Pet, 'id'>> = {}): Promise<Pet> {
    const members = [`"name":${JSON.stringify(name)}`, `"categoryId":${categoryId}`, ...(status ? [`"status":"${status}"`] : [])];
    const response = await this.create(`{${members.join()}}`);
    expectStatus(response, 201);
    return readPet(response.text);
  }

  async listPets(query = ''): Promise<Pet[]> {
    const response = await this.get(`/v1/pets${query}`);
    expectStatus(response, 200);
    return readPets(response.text);
  }

  /** Yields the pets of each page, following the `next` links from the path. */
  async *readPages(path: string): AsyncGenerator<Pet[], void> {
    for (let link: string | undefined = path; link !== undefined;) {
      const response = await this.follow(link);
      expectStatus(response, 200);
      yield readPets(response.text);
      [link] = linksOf(response, 'next');
    }
  }

  /** Returns the pets of all pages from the path on. */
  async readAllPages(path: string): Promise<Pet[]> {
    const pets: Pet[] = [];
    for await (const page of this.readPages(path)) pets.push(...page);
    return pets;
  }

  /** Requests a URI reference from a response. Sends the key only to the origin of the deployment. */
  async follow(reference: string): Promise<HttpResponse> {
    const { origin, pathname, search } = new URL(reference, this.url);
    expect(origin).toBe(this.url.origin);
    const response = await this.request('GET', pathname + search, {});
    expectCommonHeaders(response);
    expectDocumented('GET', pathname + search, response);
    return response;
  }

  /** Writes bytes to a new connection and reads until the server closes it. */
  async exchange(bytes: string | Uint8Array): Promise<HttpResponse[]> {
    const connection = await RawConnection.open(this.url.href);
    connection.write(bytes);
    const responses: HttpResponse[] = [];
    for (let response; (response = await connection.read());) responses.push({ ...response, text: response.body });
    for (const response of responses) expectCommonHeaders(response);
    return responses;
  }

  private request(method: string, path: string, options: RequestOptions): Promise<HttpResponse> {
    const { authorization = `Bearer ${this.target.key}`, body } = options;
    const { protocol, hostname, port } = this.url;
    const secure = protocol === 'https:';
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = typeof value === 'string' ? value : [...value];
    if (authorization !== null) headers['authorization'] = typeof authorization === 'string' ? authorization : [...authorization];
    const chunks = body === undefined ? [] : typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
    if (chunks === body) headers['transfer-encoding'] = 'chunked';
    else if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(chunks[0] ?? ''));
    const agent = secure ? this.agents['https:'] : this.agents['http:'];

    return new Promise((resolve, reject) => {
      const request = (secure ? https : http).request({
        protocol,
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path,
        headers,
        agent,
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const received: Buffer[] = [];
        response.on('data', (chunk: Buffer) => received.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(received).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: joined(response.headersDistinct), text });
        });
      });
      for (const chunk of chunks) request.write(chunk);
      request.end();
    });
  }
}

function joined(headers: NodeJS.Dict<string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values = []]) => [name, values.join(', ')]));
}
