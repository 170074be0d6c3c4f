import {
  defineContext,
  IdParam,
  IfMatch,
  MayBeAbsent,
  Nullable,
  RequireScopes,
  Revalidated,
  Rule,
  SendsEntityTag,
  Throws,
  toDto,
  UtcTime,
} from '@animal-store/http-kit';
import { DomainError, type Precondition } from '@animal-store/kernel';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, HttpCode, Module, Patch, Post, Put } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { contexts } from '../registered-contexts.js';
import { OpenApiDocument } from '../reference/openapi-document.js';
import { useTestApp } from './testing/test-app.js';

const PARCEL_NOT_FOUND = { code: 'parcel_not_found', kind: 'not_found', message: 'There is no such parcel.' } as const;
const ID = 9007199254740993n;

class NewParcelDto {
  @ApiProperty()
  @Rule('must be text', (value) => typeof value === 'string')
  label!: string;
}

class ParcelDto extends NewParcelDto {
  @ApiProperty()
  id!: bigint;

  @ApiProperty({ type: 'string' })
  note!: string | null;

  @ApiPropertyOptional()
  due?: Date;
}

/** Has a member that is not sent. */
interface Parcel extends ParcelDto {
  readonly weight: number;
}

class ParcelPatch {
  @ApiProperty({ type: 'string', description: 'A note.' })
  @Nullable()
  @Rule('must be text', (value) => typeof value === 'string')
  note!: string | null;

  @ApiPropertyOptional({ description: 'The time of delivery.' })
  @MayBeAbsent()
  @UtcTime()
  due?: Date;
}

let stored: Parcel | undefined;

/** Checks the precondition like a use case: against the value that the GET returns. */
function current(id: bigint, precondition: Precondition): Parcel {
  if (stored?.id !== id) throw new DomainError(PARCEL_NOT_FOUND);
  precondition(stored);
  return stored;
}

@ApiTags('parcels')
@RequireScopes('parcels:write')
@Controller({ path: 'parcels/:id', version: '1' })
class ParcelsController {
  @Get()
  @Revalidated()
  @ApiOperation({ operationId: 'getParcel' })
  @ApiOkResponse({ type: ParcelDto })
  get(@IdParam('id', PARCEL_NOT_FOUND, 'Identifier of the parcel.') id: bigint): ParcelDto {
    return toDto(
      ParcelDto,
      current(id, () => undefined),
    );
  }

  @Patch()
  @Throws(PARCEL_NOT_FOUND)
  @ApiOperation({ operationId: 'updateParcel' })
  @ApiOkResponse({ type: ParcelDto })
  patch(
    @IdParam('id', PARCEL_NOT_FOUND, 'Identifier of the parcel.') id: bigint,
    @Body() changes: ParcelPatch,
    @IfMatch({ required: true, type: ParcelDto }) precondition: Precondition,
  ): ParcelDto {
    stored = { ...current(id, precondition), ...changes };
    return toDto(ParcelDto, stored);
  }

  @Put()
  @HttpCode(201)
  @ApiOperation({ operationId: 'putParcel' })
  put(
    @IdParam('id', PARCEL_NOT_FOUND, 'Identifier of the parcel.') id: bigint,
    @Body() { label }: NewParcelDto,
    @IfMatch({ required: false, type: ParcelDto }) precondition: Precondition,
  ): ParcelDto {
    if (stored) precondition(stored);
    stored = { id, label, note: null, weight: 7 };
    return toDto(ParcelDto, stored);
  }

  @Delete()
  @HttpCode(204)
  @ApiOperation({ operationId: 'deleteParcel' })
  @ApiNoContentResponse({ description: 'Deleted' })
  delete(
    @IdParam('id', PARCEL_NOT_FOUND, 'Identifier of the parcel.') id: bigint,
    @IfMatch({ required: false, type: ParcelDto }) precondition: Precondition,
  ): void {
    current(id, precondition);
    stored = undefined;
  }

  @Post('replacement')
  @SendsEntityTag()
  @ApiOperation({ operationId: 'replaceParcel' })
  @ApiCreatedResponse({ type: ParcelDto })
  replace(@IdParam('id', PARCEL_NOT_FOUND, 'Identifier of the parcel.') id: bigint, @Body() { label }: NewParcelDto): ParcelDto {
    stored = { id, label, note: null, weight: 7 };
    return toDto(ParcelDto, stored);
  }
}

@Module({ controllers: [ParcelsController] })
class ParcelsModule {}

const parcels = defineContext({ module: ParcelsModule, persistence: { schema: 'parcels', entities: [], migrations: [] } });
const ORIGIN = 'https://app.example.com';
const service = useTestApp(['parcels:write'], { env: { CORS_ORIGINS: ORIGIN }, contexts: [...contexts, parcels] });

beforeEach(() => {
  stored = { id: ID, label: 'first', weight: 7, note: 'fragile' };
});

async function send(method: string, headers: Record<string, string> = {}, body?: string, id: bigint | string = ID) {
  const response = await fetch(`${service.url}/v1/parcels/${String(id)}`, {
    method,
    headers: { Authorization: `Bearer ${service.key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const { code } = (response.status >= 400 ? JSON.parse(text) : {}) as { code?: string };
  return { status: response.status, headers: response.headers, text, code };
}

const tagOf = async (): Promise<string> => (await send('GET')).headers.get('etag') ?? '';
const PATCH = '{"note":null}';

describe('@IfMatch', () => {
  it('accepts the ETag of the GET, alone, in a list, or *, and the response has the new one', async () => {
    for (const listed of [(tag: string) => tag, (tag: string) => `"a,b" ,, W/${tag},${tag}`, () => '*']) {
      stored = { id: ID, label: 'first', weight: 7, note: 'fragile' };
      const { status, headers, text } = await send('PATCH', { 'If-Match': listed(await tagOf()) }, PATCH);
      expect([status, text]).toEqual([200, `{"id":${String(ID)},"label":"first","note":null}`]);
      expect(headers.get('etag')).toMatch(/^"[\w-]{27}"$/);
      expect(headers.get('etag')).toBe(await tagOf());
    }
  });

  it('rejects other ETags and weak ones with 412, and changes nothing', async () => {
    const tag = await tagOf();
    for (const field of ['"other"', `W/${tag}`, `"x${tag.slice(1)}`, '""']) {
      expect(await send('PATCH', { 'If-Match': field }, PATCH)).toMatchObject({ status: 412, code: 'precondition_failed' });
      expect(await send('DELETE', { 'If-Match': field })).toMatchObject({ status: 412, code: 'precondition_failed' });
    }
    expect(await tagOf()).toBe(tag);
    await send('PATCH', { 'If-Match': tag }, PATCH);
    const stale = await send('PATCH', { 'If-Match': tag }, PATCH);
    expect([stale.status, stale.headers.get('etag')]).toEqual([412, null]);
  });

  it('requires the header if it is required, after the API key', async () => {
    expect(await send('PATCH', {}, PATCH)).toMatchObject({ status: 428, code: 'precondition_required' });
    expect(await send('PATCH', { Authorization: 'none' }, PATCH)).toMatchObject({ status: 401 });
    const replaced = await send('PUT', {}, '{"label":"second"}');
    expect([replaced.status, replaced.headers.get('etag')]).toEqual([201, await tagOf()]);
  });

  it.each(['', 'x', '"', '"a" "b"', '*, "a"', 'w/"a"', '"a"b'])('rejects %j with 400', async (field) => {
    const { status, text } = await send('PATCH', { 'If-Match': field }, PATCH);
    expect([status, text]).toEqual([400, expect.stringContaining('If-Match must be * or a list of ETags')]);
    const { text: withBody } = await send('PATCH', { 'If-Match': field }, '{"note":1}');
    expect(withBody).toMatch(/If-Match must be .*; note must be text/);
  });
});

it('@SendsEntityTag adds the ETag of the GET to a change without If-Match', async () => {
  const { status, headers } = await send('POST', {}, '{"label":"second"}', `${String(ID)}/replacement`);
  expect([status, headers.get('etag')]).toEqual([201, await tagOf()]);
});

describe('DELETE', () => {
  it('responds with 204 without a body, and then with 404', async () => {
    const { status, headers, text } = await send('DELETE', { 'If-Match': await tagOf() });
    expect([status, text]).toEqual([204, '']);
    for (const name of ['etag', 'content-type', 'content-length']) expect([name, headers.get(name)]).toEqual([name, null]);
    expect(await send('DELETE', { 'If-Match': '*' })).toMatchObject({ status: 404, code: 'parcel_not_found' });
  });
});

describe('PATCH', () => {
  it('returns a time in UTC with milliseconds', async () => {
    const { text } = await send('PATCH', { 'If-Match': '*' }, '{"note":"x","due":"2026-05-17T11:30:00+02:00"}');
    expect(text).toBe(`{"id":${String(ID)},"label":"first","note":"x","due":"2026-05-17T09:30:00.000Z"}`);
  });

  it.each(['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8', 'application/json'])(
    'accepts %s',
    async (type) => {
      expect(await send('PATCH', { 'If-Match': '*', 'Content-Type': type }, PATCH)).toMatchObject({ status: 200 });
      expect(stored?.note).toBeNull();
    },
  );

  it('rejects other types with the supported ones', async () => {
    const { status, code, headers } = await send('PATCH', { 'If-Match': '*', 'Content-Type': 'application/json-patch+json' }, PATCH);
    expect([status, code]).toEqual([415, 'unsupported_media_type']);
    expect(headers.get('accept-patch')).toBe('application/merge-patch+json, application/json');
  });

  it('is the only method with a merge patch', async () => {
    const { status, headers } = await send('PUT', { 'Content-Type': 'application/merge-patch+json' }, '{"label":"second"}');
    expect([status, headers.get('accept-patch')]).toEqual([415, null]);
  });
});

describe('OPTIONS', () => {
  it('lists the methods and types of patches', async () => {
    const { status, headers } = await send('OPTIONS');
    expect([status, headers.get('allow')?.split(', ').sort()]).toEqual([204, ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT']]);
    expect(headers.get('accept-patch')).toBe('application/merge-patch+json, application/json');
  });

  it('allows scripts of a configured origin to send all methods of the routes, and If-Match', async () => {
    const { status, headers } = await send('OPTIONS', {
      Origin: ORIGIN,
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,if-match',
    });
    expect([status, headers.get('access-control-allow-headers')]).toEqual([204, 'authorization,if-match']);
    const methods = headers.get('access-control-allow-methods')?.split(', ').sort();
    expect(methods).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT']);
    expect(headers.get('access-control-expose-headers')).toMatch(/\bAccept-Patch\b.*\bETag\b/);
  });
});

describe('the OpenAPI document', () => {
  const operation = (method: 'get' | 'put' | 'patch' | 'delete' | 'post', path = '/parcels/{id}') => {
    const document = service.app.get(OpenApiDocument).create();
    const described = document.paths[path]?.[method];
    if (!described) throw new Error(`${method} is not documented`);
    return { ...described, components: document.components };
  };

  it('describes the header, its errors and the ETag', () => {
    const { parameters, responses, ...patch } = operation('patch');
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-Match', in: 'header', required: true }));
    expect(responses).toMatchObject({
      200: { headers: { ETag: { required: true } } },
      412: { $ref: '#/components/responses/PreconditionFailed' },
      428: { $ref: '#/components/responses/PreconditionRequired' },
    });
    expect(patch).not.toHaveProperty('x-precondition');
    const put = operation('put');
    expect(put.parameters).toContainEqual(expect.objectContaining({ name: 'If-Match', required: false }));
    expect(put.responses).toMatchObject({ 201: { headers: { ETag: { required: true } } }, 412: {} });
    expect(put.responses).not.toHaveProperty('428');
    expect(operation('get').responses).not.toHaveProperty('428');
  });

  it('describes the ETag of a change without the header, and the headers of a cached response', () => {
    expect(operation('post', '/parcels/{id}/replacement').responses).toMatchObject({ 201: { headers: { ETag: { required: true } } } });
    const revalidated = { 'Cache-Control': { required: true }, ETag: { required: true } };
    expect(operation('get').responses).toMatchObject({ 200: { headers: revalidated }, 304: { headers: revalidated } });
  });

  it('describes members that are times or may be null', () => {
    expect(operation('patch').components?.schemas?.['ParcelPatch']).toEqual({
      type: 'object',
      properties: {
        note: { type: ['string', 'null'], description: 'A note.' },
        due: { type: 'string', format: 'date-time', example: '2026-05-17T09:30:00.000Z', description: 'The time of delivery.' },
      },
      required: ['note'],
    });
  });

  it('describes both types of a patch', () => {
    const { requestBody, responses, components } = operation('patch');
    const schema = { $ref: '#/components/schemas/ParcelPatch' };
    expect(requestBody).toMatchObject({ content: { 'application/merge-patch+json': { schema }, 'application/json': { schema } } });
    expect(responses['415']).toEqual({ $ref: '#/components/responses/UnsupportedMediaTypeOfPatch' });
    expect(components?.responses?.['UnsupportedMediaTypeOfPatch']).toMatchObject({
      headers: { 'Accept-Patch': { required: true } },
      content: { 'application/json': { examples: { unsupported_media_type: { value: { status: 415 } } } } },
    });
    expect(operation('put').requestBody).not.toHaveProperty('content.application/merge-patch+json');
    expect(operation('put').responses['415']).toEqual({ $ref: '#/components/responses/UnsupportedMediaType' });
    expect(components?.responses?.['UnsupportedMediaType']).not.toHaveProperty('headers.Accept-Patch');
  });

  it('describes a 204 without content, and no errors of bodies', () => {
    const { responses } = operation('delete');
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['204', '412']));
    expect(responses['204']).not.toHaveProperty('content');
    expect(responses['204']).not.toHaveProperty('headers.ETag');
    for (const status of ['413', '415', '428']) expect(responses).not.toHaveProperty(status);
  });
});
