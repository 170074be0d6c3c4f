/** @throws Error if the page lacks the markers of the section */
export function sectionReplaced(page: string, name: string, content: string): string {
  const begin = page.indexOf(`<!-- ${name}: written by `);
  const beginEnd = page.indexOf('-->', begin) + '-->'.length;
  const end = page.indexOf(`<!-- end of ${name} -->`, beginEnd);
  if (begin < 0 || end < 0) throw new Error(`The page lacks the markers of the section ${name}.`);
  return `${page.slice(0, beginEnd)}\n\n${content}\n\n${page.slice(end)}`;
}
