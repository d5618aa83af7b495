import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a file as a whole: written beside, synced, renamed, so that a reader sees the old or the new one, also after a
 * crash. It is for its owner alone (mode 0600); folders that are missing are made with mode 0700.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const beside = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeSynced(beside, text);
    await rename(beside, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** So that the new name is on the disk too. Windows cannot open a folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
