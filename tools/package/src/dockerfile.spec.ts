import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { dockerfile, nodeImage, WORKSPACE } from './testing/dockerfile.js';

it('the image runs the Node.js that package.json locks for every platform', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(WORKSPACE, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const locked = Object.entries(optionalDependencies).flatMap(([name, version]) => (name.startsWith('node-') ? [version] : []));
  expect(locked.length).toBeGreaterThan(3);
  const [, version] = /^node:([\d.]+)-[a-z]+-slim(?:@sha256:[0-9a-f]{64})?$/.exec(nodeImage) ?? [];
  expect(new Set(locked)).toEqual(new Set([version]));
});

it('every stage starts from that image', () => {
  const stages = [...dockerfile.matchAll(/^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)/gm)].map(([, image]) => image);
  expect(stages.length).toBeGreaterThan(1);
  expect(new Set(stages)).toEqual(new Set(['${NODE_IMAGE}']));
});
