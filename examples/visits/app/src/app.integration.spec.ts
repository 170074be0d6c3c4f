import { useTestApp } from '@animal-store/api/testing/test-app';
import { expect, it } from '@jest/globals';
import { contexts } from './contexts.js';

const service = useTestApp(['pets:read', 'visits:read'], { contexts });

it.each(['pets', 'visits'])('serves /v1/%s', async (path) => {
  const response = await fetch(`${service.url}/v1/${path}`, { headers: { authorization: `Bearer ${service.key}` } });
  expect([response.status, await response.json()]).toEqual([200, []]);
});
