import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes these the files of a folder. Changed files are replaced atomically, because a service may be reading or running them. */
export async function replaceFolder(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (!files.has(name)) await rm(join(folder, name));
  for (const [name, content] of files) {
    const file = join(folder, name);
    const current = await readFile(file).catch(() => undefined);
    if (current?.equals(typeof content === 'string' ? Buffer.from(content) : content)) continue;
    await writeFile(`${file}.new`, content);
    await rename(`${file}.new`, file);
  }
}
