import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offline } from "capstan/models";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { afterAll } from "vitest";
import { graph } from "./agent.ts";
import { talks } from "./conversations.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-talks-"));
afterAll(() => rmSync(folder, { recursive: true }));

// All talks are held in a session of the same name: each needs views of its own.
const ownFolder = (): string => mkdtempSync(join(folder, "talk-"));

conversationSuite("the graph explorer", () => graph({ model: offline(), folder: ownFolder() }), talks);
