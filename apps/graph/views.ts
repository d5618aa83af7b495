// What each session looks at: which graph, in which colours and layout. One small file a session, so that a restart
// changes nothing for the person who looks.

import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "capstan/data-folder";

export const layouts = ["force", "circle", "grid"] as const;
export type Layout = (typeof layouts)[number];

type Colours = { readonly [id: string]: string };

export type View = {
  readonly graph: string;
  readonly layout: Layout;
  readonly nodeColours: Colours;
  readonly edgeColours: Colours;
  readonly zoomTo: readonly string[];
};

export const plainView = (graph: string): View => ({
  graph,
  layout: "force",
  nodeColours: {},
  edgeColours: {},
  zoomTo: [],
});

export interface Views {
  read(sessionId: string): Promise<View | undefined>;
  write(sessionId: string, view: View): Promise<void>;
}

/** Beside the database and the logs. */
export const viewsFolder = (): string => join(dataFolder(), "graph");

export function viewsIn(folder: string): Views {
  // A session's id may be any text; a file's name may not.
  const fileOf = (sessionId: string) =>
    join(folder, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}.json`);
  return {
    async read(sessionId) {
      const text = await readFile(fileOf(sessionId), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return "";
        throw error;
      });
      return viewOf(text);
    },
    async write(sessionId, view) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(sessionId);
      // Whoever reads meanwhile, or after a crash, finds the old file or the new one, never half of one.
      const draft = `${file}.${randomUUID()}.tmp`;
      await writeFile(draft, JSON.stringify(view), { mode: 0o600, flush: true });
      await rename(draft, file);
    },
  };
}

/** A file that is not a view counts as none: the session begins with the plain view again. */
function viewOf(text: string): View | undefined {
  try {
    const view: Partial<View> | null = JSON.parse(text || "null");
    if (typeof view?.graph !== "string") return undefined;
    const { graph, layout = "force", nodeColours = {}, edgeColours = {}, zoomTo = [] } = view;
    if (![nodeColours, edgeColours].every(hasTexts) || !Array.isArray(zoomTo) || !hasTexts(zoomTo))
      return undefined;
    return {
      ...plainView(graph),
      layout: layouts.includes(layout) ? layout : "force",
      nodeColours,
      edgeColours,
      zoomTo,
    };
  } catch {
    return undefined;
  }
}

const hasTexts = (value: object | null): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((text) => typeof text === "string");
