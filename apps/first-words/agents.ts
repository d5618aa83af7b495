import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "capstan";
import { offline } from "capstan/models/offline";
import { airport } from "../airport/agent.ts";
import { fileBookmarks } from "../airport/bookmarks.ts";
import { files } from "../files/agent.ts";
import { graph } from "../graph/agent.ts";
import { knowledge } from "../knowledge/agent.ts";
import { createLibrary } from "../knowledge/library/library.ts";
import { bridge } from "../mcp-bridge/agent.ts";
import { startChildServers } from "../mcp-bridge/child-servers.ts";
import { startFakeWeb } from "../mcp-bridge/testing/fake-web.ts";
import type { App } from "./sentence.ts";

export type Agents = {
  /** Returns an agent of the app with the offline model and the sample data, as on a first visit. */
  create(app: App): Promise<Agent>;
  close(): Promise<void>;
};

const pages = {
  "/tides": "<title>Tides</title><main><h1>Tides</h1><p>High water is at 06:12 and at 18:31.</p></main>",
};
/** A morning on which the wait is shortest in Terminal 2. */
const clock = { now: () => Date.UTC(2026, 0, 15, 8) };

export async function startAgents(): Promise<Agents> {
  const data = mkdtempSync(join(tmpdir(), "capstan-first-words-"));
  const createFolder = (): string => mkdtempSync(join(data, "visit-"));
  const model = offline();
  const library = createLibrary({ indexFolder: false });
  const notes = createFolder();
  const mcp = await startChildServers({ dataFolder: notes });
  const fakeWeb = await startFakeWeb(pages);
  const creators: Record<App, () => Promise<Agent>> = {
    airport: () => airport({ model, clock, bookmarks: fileBookmarks(createFolder()) }),
    files() {
      const root = createFolder();
      cpSync(join(import.meta.dirname, "../files/sample"), root, { recursive: true });
      return files({ model, root, studio: true });
    },
    graph: () => graph({ model, folder: createFolder() }),
    knowledge: async () => (await knowledge({ model, library }))[0],
    "mcp-bridge"() {
      rmSync(join(notes, "notes.json"), { force: true });
      return bridge({ model, mcp, web: fakeWeb.web });
    },
  };
  return {
    create: (app) => creators[app](),
    async close() {
      await mcp.close();
      await fakeWeb.close();
      rmSync(data, { recursive: true });
    },
  };
}
