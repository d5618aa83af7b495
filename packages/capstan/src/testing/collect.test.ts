import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { collect } from "./collect.ts";
import { scriptedModel } from "./scripted-model.ts";

describe("collect", () => {
  it("gives the events, the facts among them, and the result", async () => {
    const agent = defineAgent({ name: "a", model: scriptedModel([{ text: "Hello.", split: 3 }]) });
    const { events, facts, result } = await collect(run(agent, "Hi"));
    expect(events.map((event) => event.type)).toEqual([
      ...["run_start", "turn_start", "content_delta", "content_delta", "message", "turn_end", "done"],
    ]);
    expect(facts).toEqual(events.filter((event) => event.type !== "content_delta"));
    expect(result.text).toBe("Hello.");
  });

  it("stops where the run waits, and collects the rest after it resumes", async () => {
    const ask = defineTool({ name: "ask", description: "Asks", input: { type: "object" } });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "ask" }] }, { text: "Done." }]);
    const started = run(defineAgent({ name: "a", model, tools: [ask] }), "Hi");
    const before = await collect(started);
    expect([before.facts.at(-1)?.type, before.result.status]).toEqual(["waiting", "waiting"]);
    const after = await collect(started.answer("c1", "yes"));
    expect([after.facts.at(0)?.type, after.result.status]).toEqual(["tool_call_result", "done"]);
  });
});
