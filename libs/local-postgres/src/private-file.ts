import { randomBytes } from 'node:crypto';
import { chown, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file that only its owner can read. After an error or a crash, the file is unchanged. */
export async function replacePrivateFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    // If this process is root, the file gets the owner of the folder, like the other files in the folder.
    const { uid, gid } = await stat(dirname(file));
    if (process.getuid?.() === 0) await chown(draft, uid, gid);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
