import { expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { type Entry, toPlainText } from "../kernel/history.ts";
import type { Model } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import { memory } from "../stores/memory.ts";
import { run } from "./run.ts";

it("a long run has one history, which is never copied and holds only the truncated results (S4-64)", async () => {
  const turns = 60;
  const size = 1_000_000;
  const histories = new Set<readonly Entry[]>();
  const model: Model = {
    id: "reader",
    async *stream({ history }) {
      histories.add(history);
      const read = history.filter((entry) => entry.type === "result").length;
      yield read < turns
        ? [
            { type: "call_start", index: 0, id: `c${read}`, name: "read" },
            { type: "call_delta", index: 0, text: `{"page":${read}}` },
            { type: "finish", reason: "tool_calls" },
          ]
        : [
            { type: "text", text: "Read." },
            { type: "finish", reason: "stop" },
          ];
    },
  };
  const read = defineTool({
    name: "read",
    description: "",
    input: { page: { type: "integer" } },
    effects: "none",
    execute: ({ page }) => `${page} `.repeat(size).slice(0, size),
  });
  const store = memory();
  const agent = defineAgent({ name: "reader", model, tools: [read], policy: { maxTurns: turns + 1 } });
  const result = await run(agent, "Read all.", { store, session: "s" });
  expect(result).toMatchObject({ status: "done", turns: turns + 1 });
  expect(histories.size).toBe(1);
  const kept = result.history.reduce(
    (sum, entry) => sum + (entry.type === "result" ? toPlainText(entry.content).length : 0),
    0,
  );
  expect(kept).toBeLessThanOrEqual(turns * 16_500);
  expect(JSON.stringify(await store.read("s")).length).toBeLessThan(2 * kept + turns * 5_000);
});
