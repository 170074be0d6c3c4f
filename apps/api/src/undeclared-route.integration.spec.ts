import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { type Context, contexts } from './contexts.js';
import { startTestApp, type TestApp } from './testing/test-app.js';

@Controller({ path: 'forgetful', version: '1' })
class ForgetfulController {
  @Get()
  listSecrets(): string[] {
    return ['secret'];
  }
}

@Module({ controllers: [ForgetfulController] })
class ForgetfulModule {
  static readonly persistence = { schema: 'forgetful', entities: [], migrations: [] };
}

let service: TestApp;

beforeAll(async () => {
  const registered = contexts as Context[];
  registered.push(ForgetfulModule);
  // Restores the contexts for other specs of the process.
  service = await startTestApp().finally(() => registered.pop());
});

afterAll(() => service.close());

it('rejects all requests to a route that declares neither scopes nor @Public', async () => {
  const key = await service.createKey('pets:read', 'pets:write');
  for (const [headers, status, code] of [
    [{}, 401, 'missing_api_key'],
    [{ Authorization: `Bearer ${key}` }, 403, 'insufficient_scope'],
  ] as const) {
    const response = await fetch(`${service.url}/v1/forgetful`, { headers });
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code, status })]);
  }
});
