import { readFile, writeFile } from 'node:fs/promises';
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

  it('serves a changed guide, and reports a dead link', async () => {
    const text = await readFile(dev.guide, 'utf8');
    const page = async () => (await fetch(`${dev.origin}/docs/quickstart`)).text();
    expect(await page()).not.toContain('A changed guide.');
    await writeFile(dev.guide, `${text}\nA changed guide.\n`);
    await waitFor(async () => expect(await page()).toContain('A changed guide.'));
    await writeFile(dev.guide, `${text}\n[Dead](missing.md)\n`);
    await waitFor(() => expect(dev.output).toContain('quickstart.md has a dead link: missing.md'));
    await writeFile(dev.guide, text);
    await waitFor(async () => expect(await page()).not.toContain('A changed guide.'));
  });

  it('keeps serving and reports the error when a source does not compile', async () => {
    await dev.change('export const = 1;');
    await waitFor(() => expect(dev.output).toMatch(/apps\/api\/src\/serve\.ts:\d+[^]*Waiting for a change\./));
    await waitFor(() => expect(dev.output).toContain('TS1134'));
    expect(await dev.health()).toBe(200);
    await dev.fix();
  });

  it('reports the error when a source does not load, and serves after the next change', async () => {
    await dev.change("throw new Error('broken on load');");
    await waitFor(() => expect(dev.output).toMatch(/Error: broken on load[^]*serve\.ts:\d+[^]*Waiting for file changes/));
    await dev.fix();
  });

  it('shows type errors, and runs the changed source', async () => {
    await dev.change("export const wrong: number = 'text';");
    await waitFor(() => expect(dev.output).toContain('TS2322'));
    await waitFor(() => expect(dev.output).toContain('listening'));
    expect(await dev.health()).toBe(200);
    await dev.fix();
    await waitFor(() => expect(dev.output).toContain('Found 0 errors'));
  });

  it('leaves nothing running after Ctrl-C', async () => {
    expect(await dev.stop('SIGINT')).toBe(0);
    expect(await dev.runningProcesses()).toEqual([]);
  });
});
