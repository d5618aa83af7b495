// Stores the view of each session in a small file, so that it survives a restart.

import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";
import { createView, layouts, type View, type Views } from "./view.ts";

/** The data folder also holds the database and the logs. */
export const getViewsFolder = (): string => join(dataFolder(), "graph");

export function openViews(folder: string): Views {
  // A session id can be any text; a file name cannot.
  const getFile = (sessionId: string) =>
    join(folder, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}.json`);
  return {
    async read(sessionId) {
      const text = await readFile(getFile(sessionId), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return "";
        throw error;
      });
      return parseView(text);
    },
    async write(sessionId, view) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = getFile(sessionId);
      // Readers see the old file or the new one, never a partial file, even after a crash.
      const temporaryFile = `${file}.${randomUUID()}.tmp`;
      await writeFile(temporaryFile, JSON.stringify(view), { mode: 0o600, flush: true });
      await rename(temporaryFile, file);
    },
  };
}

/** Returns undefined for an invalid file; the session then starts with the default view. */
function parseView(text: string): View | undefined {
  try {
    const view: Partial<View> | null = JSON.parse(text || "null");
    if (typeof view?.graph !== "string") return undefined;
    const { graph, layout = "force", nodeColours = {}, edgeColours = {}, zoomTo = [] } = view;
    if (
      ![nodeColours, edgeColours].every(hasOnlyStrings) ||
      !Array.isArray(zoomTo) ||
      !hasOnlyStrings(zoomTo)
    )
      return undefined;
    return {
      ...createView(graph),
      layout: layouts.includes(layout) ? layout : "force",
      nodeColours,
      edgeColours,
      zoomTo,
    };
  } catch {
    return undefined;
  }
}

const hasOnlyStrings = (value: object | null): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((text) => typeof text === "string");
