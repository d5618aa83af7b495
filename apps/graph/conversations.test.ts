import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offline } from "capstan/models";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { afterAll } from "vitest";
import { graph } from "./agent.ts";
import { conversations } from "./conversations.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-conversations-"));
afterAll(() => rmSync(folder, { recursive: true }));

// All conversations use the same session name, so each needs its own views.
const createFolder = (): string => mkdtempSync(join(folder, "conversation-"));

conversationSuite(
  "the graph explorer",
  () => graph({ model: offline(), folder: createFolder() }),
  conversations,
);
