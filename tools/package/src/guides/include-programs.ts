/**
 * Replaces lines such as `[Go](samples/list-pets.go)` by code blocks.
 * @param read Returns the program at a path from docs/guides.
 */
export function includePrograms(markdown: string, read: (path: string) => string): string {
  return markdown.replace(/^\[Go\]\((samples\/[\w-]+\.go)\)$/gm, (_line, path: string) => `\`\`\`go\n${read(path)}\`\`\``);
}
