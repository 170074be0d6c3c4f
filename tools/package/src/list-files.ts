import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The paths of all files and links below a folder, relative to it; links are not followed. */
export async function listFiles(folder: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? await listFiles(folder, path) : [path];
  });
  return (await Promise.all(found)).flat().sort();
}
