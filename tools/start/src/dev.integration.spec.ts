import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DevWorkspace } from './support/dev-workspace.js';

let dev: DevWorkspace;
beforeAll(async () => {
  dev = await DevWorkspace.start();
});
afterAll(() => dev.remove());

describe('npm run dev', () => {
  it('validates requests, which requires the types that decorators record', async () => {
    const response = await fetch(`${dev.origin}/v1/pets?limit=0`, { headers: { authorization: `Bearer ${dev.apiKey}` } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'limit must be an integer from 1 to 100' });
  });

  it('runs a changed source', async () => {
    await dev.change("console.log('the change runs');");
    await waitFor(() => expect(dev.output).toMatch(/the change runs\n[^]*listening/));
    expect(await dev.health()).toBe(200);
  });

  it('leaves nothing running after Ctrl-C', async () => {
    expect(await dev.stop('SIGINT')).toBe(0);
    expect(await dev.runningProcesses()).toEqual([]);
  });
});
