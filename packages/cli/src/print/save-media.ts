import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Result, Store } from "capstan";
import type { Io } from "../io.ts";
import { escapeTerminalLine } from "../terminal/escape-terminal.ts";

const endings: { readonly [mediaType: string]: string } = {
  ...{ "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp" },
  ...{ "audio/wav": "wav", "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/flac": "flac" },
  ...{ "video/mp4": "mp4", "video/webm": "webm" },
};

/** Saves the media that a run generated, named by their handles, and writes their paths to stderr. */
export async function saveMedia(
  { media, sessionId }: Result,
  { store, folder }: { readonly store: Store; readonly folder: string },
  { cwd, stderr }: Pick<Io, "cwd" | "stderr">,
): Promise<void> {
  for (const { handle, mediaType } of media) {
    const blob = handle === undefined ? undefined : await store.getBlob(sessionId, handle);
    if (!blob) continue;
    // A type that is not listed could be a program.
    const name = `${handle?.replaceAll(/[^\w-]/g, "_")}.${endings[mediaType] ?? "bin"}`;
    const path = join(resolve(cwd, folder), name);
    await mkdir(resolve(cwd, folder), { recursive: true });
    await writeFile(path, blob.data);
    stderr.write(`${escapeTerminalLine(`· Saved ${path}`)}\n`);
  }
}
