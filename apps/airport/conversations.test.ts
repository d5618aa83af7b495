import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offline } from "capstan/models/offline";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { afterAll } from "vitest";
import { airport } from "./agent.ts";
import { fileBookmarks } from "./bookmarks.ts";
import { conversations } from "./conversations.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-airport-"));
afterAll(() => rmSync(folder, { recursive: true }));

let conversationCount = 0;
const clock = { now: () => Date.UTC(2026, 0, 15, 8) };

/** Each conversation gets its own bookmarks. */
const createAgent = () =>
  airport({ model: offline(), clock, bookmarks: fileBookmarks(join(folder, String(conversationCount++))) });

conversationSuite("the airport", createAgent, conversations);
