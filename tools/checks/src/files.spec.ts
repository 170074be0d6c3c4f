import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { readText, ROOT, workspaceFiles } from './workspace.js';

const files = workspaceFiles();
const BINARY = /\.(?:png|jpe?g|gif|ico|webp|woff2?|pdf|gz|zip)$/;
const texts = files.filter((file) => !BINARY.test(file)).map((file) => [file, readText(file)] as const);

function linesMatching(pattern: RegExp): string[] {
  return texts.flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('what is committed', () => {
  it('names no folder of this machine', () => {
    const folders = [resolve(ROOT), homedir()].filter((folder) => folder.split(/[\\/]/).length > 2);
    for (const folder of folders) expect(linesMatching(new RegExp(`${escaped(folder)}(?![\\w-])`))).toEqual([]);
  });

  it('names no home folder', () => {
    expect(linesMatching(/(?<![\w.])\/(?:home|Users)\/(?!node\/)\w+\/|(?<![\w.])\/root\/|\b[A-Z]:\\+Users\\/)).toEqual([]);
  });

  it('names no package registry', () => {
    expect(
      linesMatching(/https?:\/\/[^\s"']*(?:registry|artifactory|verdaccio|nexus)[^\s"']*|_auth(?:Token)|^\s*(?:@[\w-]+:)?registry\s*=/),
    ).toEqual([]);
  });

  it('holds no secret settings', () => {
    expect(files.filter((file) => /(?:^|\/)\.env(?!\.example$)/.test(file))).toEqual([]);
  });
});

const yamlFiles = files.filter((file) => /\.ya?ml$/.test(file));

describe('YAML', () => {
  it.each(yamlFiles)('%s is well-formed', (file) => {
    const { errors, warnings } = parseDocument(readText(file), { uniqueKeys: true });
    expect([...errors, ...warnings]).toEqual([]);
  });

  it('is there for CI and Docker Compose', () => {
    expect(yamlFiles).toEqual(expect.arrayContaining(['.github/workflows/ci.yml', 'docker-compose.yml']));
  });
});

it('docs/architecture.md names files that are there', () => {
  const named = [...readText('docs/architecture.md').matchAll(/`((?:apps|libs|tools)\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((file) => !files.includes(file))).toEqual([]);
});
