/** The page at `/docs`. Its lists are the navigation of all pages. */
export const HOME = 'README.md';
/** The documentation of the client, from docs/guides: also the README of its package. */
export const CLIENT = '../../libs/client/README.md';

/** Returns the path of a page below `/docs/`, without a suffix. */
export function pathOf(file: string): string {
  if (file === HOME) return '';
  return file === CLIENT ? 'typescript-client' : file.replace(/\.md$/, '');
}

/** Returns the anchor of a heading, the same as on GitHub. */
export function headingId(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
