import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offline } from "capstan/models";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { afterAll } from "vitest";
import { files } from "./agent.ts";
import { conversations } from "./conversations.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "secret"), "canary");

let workspaceCount = 0;

/** Each conversation gets its own workspace, because some of them write. */
function createAgent(): ReturnType<typeof files> {
  const root = join(folder, `workspace-${++workspaceCount}`);
  cpSync(join(import.meta.dirname, "sample"), root, { recursive: true });
  return files({ model: offline(), root, undoFolder: `${root}-undo`, studio: true });
}

conversationSuite("the files app", createAgent, conversations);
