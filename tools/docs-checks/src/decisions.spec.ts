import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readText, ROOT, workspaceFiles } from '@animal-store/checks/workspace';

const FOLDER = 'docs/adr';
const HEAD =
  /^# (\d+)\. (.+)\n\nDate: (\d{4}-\d{2}-\d{2})\. Status: (accepted|superseded by \[(\d+)\]\(\d{4}-[a-z0-9-]+\.md\))(\.| ?[^\n]*\.)\n\n/;
/** About one printed page. */
const MAX_CHARACTERS = 5_000;

const files = readdirSync(join(ROOT, FOLDER)).filter((file) => file !== 'README.md');
const index = readText(`${FOLDER}/README.md`);
const headOf = (file: string) => HEAD.exec(readText(`${FOLDER}/${file}`)) ?? [];
const numberOf = (file: string) => Number(file.slice(0, 4));

describe.each(files)('docs/adr/%s', (file) => {
  it('has a number, a title, a date and a status', () => {
    const [, number] = headOf(file);
    expect(Number(number)).toBe(numberOf(file));
  });

  it('is in the index', () => {
    const [, number, title, , , successor] = headOf(file);
    const status = successor === undefined ? '' : ` (superseded by ${successor})`;
    expect(index.split('\n')).toContain(`- [${number}. ${title}](${file})${status}`);
  });

  it('is at most a page', () => {
    expect(readText(`${FOLDER}/${file}`).length).toBeLessThanOrEqual(MAX_CHARACTERS);
  });
});

it('each number is used once, and the index explains each missing number', () => {
  const numbers = files.map(numberOf);
  const [, missing = ''] = index.split('Missing numbers:');
  const explained = new Set([...missing.matchAll(/(?<![/\d])(\d+)(?=\D)/g)].map(([, number]) => Number(number)));
  const all = Array.from({ length: Math.max(...numbers) }, (_, i) => i + 1);
  expect([...new Set(numbers)]).toEqual(numbers);
  expect(all.filter((number) => !numbers.includes(number) && !explained.has(number))).toEqual([]);
});

it('each decision that a file refers to exists', () => {
  const numbers = new Set(files.map(numberOf));
  const unknown = workspaceFiles()
    .filter((file) => /\.(md|ts|js|mjs|jsonc?|ya?ml|css)$/.test(file) && file !== 'package-lock.json')
    .flatMap((file) =>
      [...readText(file).matchAll(/\bADRs? (\d+(?:(?:, | and )\d+)*)/g)]
        .flatMap(([, list = '']) => list.split(/\D+/))
        .filter((number) => !numbers.has(Number(number)))
        .map((number) => `${file}: ADR ${number}`),
    );
  expect(unknown).toEqual([]);
});
