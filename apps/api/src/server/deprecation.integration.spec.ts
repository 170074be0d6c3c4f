import { Clock } from '@animal-store/kernel';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../testing/test-app.js';

class SettableClock extends Clock {
  constructor(public time: Date) {
    super();
  }

  override now(): Date {
    return this.time;
  }
}

describe('getPet on the day of its removal', () => {
  const clock = new SettableClock(new Date('2030-12-04T23:59:59.999Z'));
  let service: TestApp;
  let key: string;

  beforeAll(async () => {
    service = await startTestApp({ clock, env: { PUBLIC_BASE_URL: 'https://api.example.org/store' } });
    key = await service.createKey('pets:read', 'pets:write');
  });

  afterAll(() => service.close());

  const get = (path: string, headers: Record<string, string> = { Authorization: `Bearer ${key}` }) =>
    fetch(service.url + path, { headers });

  it('works until the last millisecond, and then responds with 410', async () => {
    const created = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    });
    const { id } = (await created.json()) as { id: number };
    const before = await get(`/v1/pets/${String(id)}`);
    expect([before.status, await before.json()]).toEqual([200, { id, name: 'Rex', categoryId: 1, status: 'available' }]);

    clock.time = new Date('2030-12-05T00:00:00Z');
    for (const path of [`/v1/pets/${String(id)}`, '/v1/pets/none']) {
      const after = await get(path);
      expect([after.status, await after.json()]).toEqual([410, { code: 'operation_removed', message: expect.any(String), status: 410 }]);
      expect(after.headers.get('deprecation')).toBe('@1764892800');
      expect(after.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
      expect(after.headers.get('link')).toBe(
        '<https://api.example.org/store/v1/pets>; rel="successor-version", <https://api.example.org/store/docs/errors#operation_removed>; rel="help"',
      );
    }
    expect((await get(`/v1/pets/${String(id)}`, {})).status).toBe(401);
    const list = await get(`/v1/pets?id=${String(id)}`);
    expect([list.status, list.headers.get('deprecation'), list.headers.get('link')]).toEqual([200, null, null]);
    expect(await list.json()).toEqual([{ id, name: 'Rex', categoryId: 1, status: 'available' }]);
  });
});
