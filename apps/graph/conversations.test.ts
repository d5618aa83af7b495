import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, run } from "capstan";
import { offline } from "capstan/models";
import { memory } from "capstan/stores/memory";
import { collect } from "capstan/testing";
import { conversationSuite } from "capstan/testing/conversation-suite";
import { afterAll, expect, it } from "vitest";
import { graph } from "./agent.ts";
import { conversations } from "./conversations.ts";

const folder = mkdtempSync(join(tmpdir(), "graph-conversations-"));
afterAll(() => rmSync(folder, { recursive: true }));

// All conversations use the same session name, so each needs its own views.
const createFolder = (): string => mkdtempSync(join(folder, "conversation-"));
const createAgent = () => graph({ model: offline(), folder: createFolder() });

conversationSuite("the graph explorer", createAgent, conversations);

const getMessages = (events: readonly Event[]): string[] =>
  events.flatMap((event) =>
    event.type === "tool_call_result" && !event.is_error
      ? [String(JSON.parse(String(event.result)).message)]
      : [],
  );

it("no answer repeats the message of a tool: all come from the data (S2-01, S2-02)", async () => {
  let compared = 0;
  for (const conversation of conversations) {
    const options = { store: memory(), session: "s" };
    const agent = await createAgent();
    for (const { user } of conversation) {
      const { events, result } = await collect(run(agent, user, options));
      for (const message of getMessages(events)) {
        expect(result.text).not.toContain(message.replace(/\.$/u, ""));
        compared++;
      }
    }
  }
  expect(compared).toBeGreaterThan(60);
});
