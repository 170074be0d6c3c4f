/**
 * Returns the page with the text between the markers of the section replaced.
 * @throws Error if the page has no such markers
 */
export function replaceSection(page: string, name: string, content: string): string {
  const begin = page.indexOf(`<!-- ${name}: written by `);
  const beginEnd = page.indexOf('-->', begin) + '-->'.length;
  const end = page.indexOf(`<!-- end of ${name} -->`, beginEnd);
  if (begin < 0 || end < 0) throw new Error(`The page has no markers of the section ${name}.`);
  return `${page.slice(0, beginEnd)}\n\n${content}\n\n${page.slice(end)}`;
}
