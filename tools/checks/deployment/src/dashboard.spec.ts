import { expect, it } from '@jest/globals';
import { dashboard, type Panel, readWorkspaceFile } from './testing/files.js';

const { panels } = dashboard;

it('each panel has a unique id, and a description unless it is a row', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.filter(({ type, description, targets = [] }) => type !== 'row' && (!description || targets.length === 0))).toEqual([]);
});

it('docs/runbook.md names panels that exist', () => {
  const text = readWorkspaceFile('docs/runbook.md').replaceAll(/`[^`]*`/g, '');
  const named = [...text.matchAll(/_([^_\n]+)_/g)].map(([, title]) => title);
  expect(named.length).toBeGreaterThan(10);
  expect(panels.map(({ title }) => title)).toEqual(expect.arrayContaining(named));
});

it('no two panels overlap', () => {
  const overlap = ({ gridPos: one }: Panel, { gridPos: other }: Panel) =>
    one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
  const pairs = panels.flatMap((one, index) =>
    panels
      .slice(index + 1)
      .filter((other) => overlap(one, other))
      .map(({ title }) => [one.title, title]),
  );
  expect(pairs).toEqual([]);
  expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([]);
});
