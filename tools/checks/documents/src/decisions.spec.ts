import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readText, ROOT, workspaceFiles } from '@animal-store/checks/workspace';

const FOLDER = 'docs/adr';
const HEAD = /^# (\d+)\. (.+)\n\n(?:Status: [^\n]+\n\n)?## Context\n\n/;

const files = readdirSync(join(ROOT, FOLDER)).filter((file) => file !== 'README.md');
const index = readText(`${FOLDER}/README.md`);
const headOf = (file: string) => HEAD.exec(readText(`${FOLDER}/${file}`)) ?? [];
const numberOf = (file: string) => Number(file.slice(0, 4));

describe.each(files)('docs/adr/%s', (file) => {
  it('has a number, a title and the sections of a decision', () => {
    const [, number] = headOf(file);
    expect(Number(number)).toBe(numberOf(file));
    const sections = [...readText(`${FOLDER}/${file}`).matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(['Context', 'Decision', 'Consequences', 'Rejected'].slice(0, sections.length)).toEqual(sections);
    expect(sections.length).toBeGreaterThanOrEqual(3);
  });

  it('is in the index', () => {
    const [, number, title] = headOf(file);
    expect(index.split('\n')).toContain(`- [${number}. ${title}](${file})`);
  });
});

it('the numbers have no gaps', () => {
  expect(files.map(numberOf)).toEqual(files.map((_, index) => index + 1));
});

it('each decision that a file refers to exists', () => {
  const numbers = new Set(files.map(numberOf));
  const referred = workspaceFiles()
    .filter((file) => /\.(md|ts|js|mjs|jsonc?|ya?ml|css)$/.test(file) && file !== 'package-lock.json')
    .flatMap((file) =>
      [...readText(file).matchAll(/\bADRs? (\d+(?:(?:, | and )\d+)*)/g)]
        .flatMap(([, list = '']) => list.split(/\D+/))
        .map((number) => ({ file, number: Number(number) })),
    );
  expect(referred.length).toBeGreaterThan(20);
  expect(referred.filter(({ number }) => !numbers.has(number))).toEqual([]);
});
