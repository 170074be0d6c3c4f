import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { useTestApp } from '../http/testing/test-app.js';

const service = useTestApp(['pets:read']);

it('/ redirects to /docs, whose page loads only files of this service', async () => {
  const response = await fetch(`${service.url}/`);
  expect(response.url).toBe(`${service.url}/docs`);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
  // What Swagger UI does: style attributes, icons from data URLs, requests to the service.
  expect(policy).toContain("; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self';");
  const files = [...(await response.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
  expect(files).toEqual(['data:,', 'docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'docs/docs.js']);
  for (const file of files.slice(1)) {
    const asset = await fetch(new URL(file, response.url));
    expect([file, asset.status, asset.headers.get('content-type')]).toEqual([
      file,
      200,
      `text/${file.endsWith('css') ? 'css' : 'javascript'}; charset=utf-8`,
    ]);
    expect((await asset.text()).length).toBeGreaterThan(1000);
  }
});

it.each(['docs/', 'docs/unknown.js', 'docs/__proto__', 'docs/docs.html', 'docs/..%2Fpackage.json'])('there is no /%s', async (path) => {
  const response = await fetch(`${service.url}/${path}`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'route_not_found' });
});

it('Swagger UI shows every digit of integers in examples and responses', async () => {
  interface Options {
    readonly spec: { readonly example: unknown; readonly servers: unknown };
    readonly plugins: readonly [() => { afterLoad(system: object): void }, () => { wrapComponents: { responseBody: Wrapper } }];
  }
  type Wrapper = (original: string, system: object) => (props: object) => readonly unknown[];
  const text = '{"example":9007199254740993,"servers":[]}';
  const options = await new Promise<Options>((SwaggerUIBundle) => {
    const globals = { SwaggerUIBundle, URL, fetch: async () => new Response(text), location: { href: 'https://store.test/base/docs' } };
    runInNewContext(readFileSync(new URL('../../assets/docs.js', import.meta.url), 'utf8'), globals);
  });
  expect(options.spec).toEqual({ example: '9007199254740993', servers: [{ url: 'https://store.test/base/v1' }] });
  const fn = { getSampleSchema: () => '{"id": 9007199254740992}' };
  options.plugins[0]().afterLoad({ fn });
  expect(fn.getSampleSchema()).toBe('{"id": 9007199254740993}');
  const createElement = (...args: readonly unknown[]) => args;
  const body = options.plugins[1]().wrapComponents.responseBody('Original', { React: { createElement } });
  const props = (content: unknown) => ({ content, getComponent: (name: string) => name });
  expect(body(props('[{"id":9223372036854775807}]')).at(-1)).toBe('[\n  {\n    "id": 9223372036854775807\n  }\n]');
  expect(body(props('plain text'))[0]).toBe('Original');
});
