import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { agentTool } from "./agent-tool.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function measureHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

it("memory stays flat while a nested agent emits 1,000 events of 1 KB, all in one stream (S3-58)", async () => {
  const told = 1_000;
  const warmUp = 200;
  const work = defineTool({
    name: "work",
    description: "Works.",
    input: {},
    effects: "none",
    async execute(_, { progress }) {
      for (let step = 0; step < told + warmUp; step++) {
        progress({ step, note: "x".repeat(1_000) });
        // Keeps the reader from falling behind.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return "Worked.";
    },
  });
  const callOnce = (name: string, input: { prompt?: string }) =>
    scriptedModel(({ history }) =>
      history.some((entry) => entry.type === "result") ? { text: "Done." } : { calls: [{ name, input }] },
    );
  const inner = defineAgent({ name: "inner", model: callOnce("work", {}), tools: [work] });
  const middle = defineAgent({
    name: "middle",
    model: callOnce("inner", { prompt: "Work." }),
    tools: [agentTool(inner)],
  });
  const outer = defineAgent({
    name: "outer",
    model: callOnce("middle", { prompt: "Work." }),
    tools: [agentTool(middle)],
  });

  let seen = 0;
  let before = 0;
  let after = 0;
  for await (const event of run(outer, "Go.", { store: memory() })) {
    if (event.type !== "tool_progress") continue;
    expect(event).toMatchObject({ agent: "inner", parentCallId: expect.any(String) });
    seen += 1;
    if (seen === warmUp) before = measureHeap();
    if (seen === told + warmUp) after = measureHeap();
  }
  expect(seen).toBe(told + warmUp);
  // Keeping all of them would take more than a million bytes.
  expect(after - before).toBeLessThan(400_000);
});
