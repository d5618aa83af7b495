import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { type ScriptedStep, scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks, or fails.",
  input: { type: "object" },
  execute: ({ fails }) => (fails ? { error: "Dark.", retryable: false } : "Seen."),
});

/** Whether thinking was requested, per turn. */
async function collectThinking(
  query: string,
  policy: PolicyOverrides,
  script: ScriptedStep[],
): Promise<boolean[]> {
  const model = scriptedModel(script);
  await run(defineAgent({ name: "helper", model, tools: [look], policy }), query, { store: memory() });
  return model.requests.map(({ thinking }) => thinking);
}

const ok = { calls: [{ name: "look", input: { n: 1 } }] };
const failing = { calls: [{ name: "look", input: { fails: true } }] };
const answer = { text: "There." };

describe("thinking", () => {
  it.each<[string, boolean]>([
    ["Analyze the sales of May.", true],
    ["analyse this", true],
    ["Compare Oslo and Bergen", true],
    ["EVALUATE both", true],
    ["Work it out step by step.", true],
    ["step-by-step please", true],
    ["What are the trade-offs?", true],
    ["Explain why it rains.", true],
    ["What is 2+2?", false],
    ["Where is Gate 15?", false],
    ["comparedTo", false],
    ["", false],
  ])("under auto, for the question %j, is %s (S4-14)", async (query, expected) => {
    expect(await collectThinking(query, {}, [answer])).toEqual([expected]);
  });

  it("under auto, turns on after a tool failed, and off after one succeeded (S4-14)", async () => {
    const other = { calls: [{ name: "look", input: { n: 3 } }] };
    expect(await collectThinking("Where?", {}, [ok, failing, other, answer])).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("under auto, turns on when any call of the last turn failed (S4-14)", async () => {
    const mixed = { calls: [...failing.calls, ...ok.calls] };
    expect(await collectThinking("Where?", {}, [mixed, answer])).toEqual([false, true]);
  });

  it("under auto, turns on when a call repeats with the same result (S4-14)", async () => {
    const look = { calls: [{ name: "look", input: { n: 2 } }] };
    expect(await collectThinking("Where?", {}, [look, look, ok, answer])).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("under auto, turns on for the turn in which the user asks for deliberation (S4-14)", async () => {
    const model = scriptedModel([ok, answer]);
    const running = run(defineAgent({ name: "helper", model, tools: [look] }), "Where?", { store: memory() });
    for await (const event of running)
      if (event.type === "tool_call_start") running.steer("Compare both, please.");
    expect(model.requests.map(({ thinking }) => thinking)).toEqual([false, true]);
  });

  it("is always on or off when the policy says so (S4-14)", async () => {
    expect(await collectThinking("Where?", { thinking: "on" }, [ok, answer])).toEqual([true, true]);
    expect(await collectThinking("Compare them.", { thinking: "off" }, [failing, answer])).toEqual([
      false,
      false,
    ]);
  });

  it("depends on the latest question of the input (S4-14)", async () => {
    const model = scriptedModel([answer]);
    await run(
      defineAgent({ name: "helper", model }),
      [
        { role: "user", content: "Compare them." },
        { role: "assistant", content: "Done." },
        { role: "user", content: "Thanks." },
      ],
      { store: memory() },
    );
    expect(model.requests[0]?.thinking).toBe(false);
  });

  it("does not scan a whole question of a megabyte", async () => {
    const query = `${"x ".repeat(500_000)} compare`;
    expect(await collectThinking(query, {}, [answer])).toEqual([false]);
  });
});
