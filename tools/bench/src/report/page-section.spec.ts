import { expect, it } from '@jest/globals';
import { replaceSection } from './page-section.js';

const page = `# Performance

<!-- bench: written by \`npm run bench -- --docs\`; do not edit -->

old

<!-- end of bench -->

## Log

By hand.
`;

it('replaces only the text between the markers', () => {
  const replaced = replaceSection(page, 'bench', 'new');
  expect(replaced).toBe(page.replace('old', 'new'));
  expect(replaceSection(replaced, 'bench', 'old')).toBe(page);
});

it('throws if the page has no such section', () => {
  expect(() => replaceSection(page, 'scale', 'new')).toThrow('The page has no markers of the section scale.');
});
