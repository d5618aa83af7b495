import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { difference } from "./difference.ts";
import { formatDifference } from "./format-difference.ts";

async function recordFacts(id: string, text: string, ...steps: ScriptedStep[]) {
  const store = memory();
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    execute: (input) => `saw ${JSON.stringify(input)}`,
  });
  const agent = defineAgent({ name: "a", model: scriptedModel(steps, { id }), tools: [look] });
  await run(agent, text, { store, session: "s1", clock: fakeClock() });
  return store.read("s1");
}

describe("difference", () => {
  it("reports identical runs as the same", async () => {
    const steps = [{ calls: [{ name: "look", input: { n: 1 } }] }, { text: "One." }];
    const [left, right] = [await recordFacts("m", "Hi.", ...steps), await recordFacts("m", "Hi.", ...steps)];
    const same = difference(left, right);
    expect(same).toMatchObject({ isSame: true, turns: [{ type: "same" }, { type: "same" }] });
    expect(formatDifference(same)).toMatch(/^Both runs are identical/);
  });

  it("shows changed questions, calls, results, answers and usage, turn by turn", async () => {
    const usage = { inputTokens: 20, outputTokens: 9, cost: 0.25 };
    const left = await recordFacts(
      ...(["small", "Where is\nOslo?"] as const),
      {
        text: "I look.",
        calls: [
          { name: "look", input: { n: 1 } },
          { name: "look", input: { n: 2 } },
        ],
      },
      { text: "First\nsecond\nthird" },
    );
    const right = await recordFacts(
      ...(["large", "Where is\nBergen?"] as const),
      {
        text: "I look.",
        calls: [
          { name: "look", input: { n: 1 } },
          { name: "peek", input: { n: 3 } },
        ],
        usage,
      },
      { calls: [{ name: "look", input: { n: 4 } }], usage },
      { text: "First\n2nd\nthird", usage },
    );
    const found = difference(left, right);
    expect(found.isSame).toBe(false);
    expect(found.turns.map(({ type }) => type)).toEqual(["changed", "changed", "right"]);
    expect(found.turns[0]?.calls).toMatchObject([
      { type: "same", name: "look" },
      { type: "changed", names: { left: "look", right: "peek" }, input: { left: { n: 2 }, right: { n: 3 } } },
    ]);
    expect(formatDifference(found)).toMatchInlineSnapshot(`
      "Question
          Where is
        - Oslo?
        + Bergen?
      Turn 1
        look: same
        look → peek
        - {"n":2}
        + {"n":3}
          status: ok → error
        - saw {"n":2}
        + Unknown tool: no tool is named "peek". The tools are: look.
      Turn 2
        - First
        - second
        - third
        look: only on the right
      Turn 3: only on the right
        + First
        + 2nd
        + third
      Answer
          First
        - second
        + 2nd
          third
      Status: done
      Models: small → large
      Tokens in: 20 → 60
      Tokens out: 10 → 27
      Cost: $0.0000 → $0.7500
      Time: 0 ms
      "
    `);
  });
});
