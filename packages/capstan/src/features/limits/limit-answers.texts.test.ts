import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { RunState } from "../../kernel/state.ts";
import { defineTool } from "../../kernel/tool.ts";
import { fold } from "../../runtime/facts.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { type Script, scriptedModel } from "../../testing/scripted-model.ts";
import { buildBestEffort, buildClarification, formatPreview, listToolsTried } from "./limit-answers.ts";

/** The state of a run whose only tool returns its `result` argument, or fails with its `error` argument. */
async function runScript(script: Script, question = "Go."): Promise<RunState> {
  const say = defineTool({
    name: "say",
    description: "Says it.",
    input: { type: "object" },
    execute: ({ result, error }) => (error === undefined ? result : { error: String(error) }),
  });
  const model = scriptedModel(script);
  const policy = { maxTurns: 2, finalTurn: "keep-tools" } as const;
  const agent = defineAgent({ name: "helper", model, tools: [say], policy });
  const { facts } = await collect(run(agent, question, { store: memory(), session: "s", runId: "r" }));
  const { run: state } = fold("s", facts);
  if (!state) throw new Error("There is no run.");
  return state;
}

const callSay = (...inputs: { result?: string; error?: string }[]) => ({
  calls: inputs.map((input) => ({ name: "say", input })),
});

describe("the best effort", () => {
  it("says why it stopped, lists each tool with its result, and ends with an answer and what to do (S4-20, D-18)", async () => {
    const state = await runScript([callSay({ result: "Oslo: 4 °C" }), callSay({ error: "No such city." })]);
    expect(buildBestEffort(state)).toMatchInlineSnapshot(`
      "I could not finish this: The limit of 2 turns was reached.

      What I found so far:
      - Used say: Oslo: 4 °C
      - Used say (failed): Tool execution failed: No such city.

      Based on these results, my best answer is: Oslo: 4 °C

      Ask me to go on from there, or narrow the question."
    `);
  });

  it("answers with the result that is closest to the question, not the latest, in 600 characters (S4-20)", async () => {
    const report = `The temperature in Oslo is 4 °C. ${"More of it. ".repeat(80)}`;
    const state = await runScript(
      [callSay({ result: report }), callSay({ result: "The ferry leaves at ten." })],
      "How warm is it in Oslo? What is the temperature?",
    );
    expect(buildBestEffort(state)).toContain(
      `\n\nBased on these results, my best answer is: ${report.slice(0, 600)}…`,
    );
  });

  it("includes the model's last text (S4-20)", async () => {
    const state = await runScript([
      { ...callSay({ result: "A" }), text: "Oslo is first." },
      callSay({ result: "B" }),
    ]);
    expect(buildBestEffort(state)).toContain("\n\nMy last note was: Oslo is first.\n\n");
  });

  it("says that there are no results when every call failed (S4-20)", async () => {
    const state = await runScript(() => callSay({ error: "Down." }));
    expect(buildBestEffort(state)).toMatch(/\n\nI have no results to build an answer on; please narrow/);
  });

  it("shows the first 100 characters of a result, on one line (S4-20)", async () => {
    const long = `Title\n\n  ${"x".repeat(200)}`;
    const state = await runScript([callSay({ result: long }, { result: "y".repeat(100) }), { text: "-" }]);
    expect(listToolsTried(state)).toEqual([
      `What I found so far:\n- Used say: Title ${"x".repeat(94)}…\n- Used say: ${"y".repeat(100)}`,
    ]);
  });

  it("does not split a character", async () => {
    const state = await runScript([callSay({ result: `x${"😀".repeat(100)}` }), { text: "-" }]);
    const [call] = state.toolCalls;
    expect(call && formatPreview(call).isWellFormed()).toBe(true);
  });

  it("lists 50 calls and counts the rest", async () => {
    const calls = Array.from({ length: 60 }, (_, n) => ({ result: String(n) }));
    const [listed] = listToolsTried(await runScript([callSay(...calls), { text: "-" }]));
    const lines = listed?.split("\n") ?? [];
    expect(lines).toHaveLength(1 + 50 + 1);
    expect(lines.at(-1)).toBe("- and 10 more");
  });

  it.each(["skipped", "denied", "interrupted"] as const)("omits a call that was %s", async (status) => {
    const state = await runScript([callSay({ result: "A" }), { text: "-" }]);
    expect(listToolsTried(state)).toEqual(["What I found so far:\n- Used say: A"]);
    const toolCalls = state.toolCalls.map((call) => ({ ...call, status }));
    expect(listToolsTried({ ...state, toolCalls })).toEqual([]);
  });

  it("shows the type of content that is not text", async () => {
    const state = await runScript([{ text: "-" }]);
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const call = { id: "c", name: "draw", input: {}, status: "ok", attempts: 1, ms: 0 } as const;
    expect(listToolsTried({ ...state, toolCalls: [{ ...call, result: [image] }] })).toEqual([
      "What I found so far:\n- Used draw: [image image/png]",
    ]);
  });
});

describe("the clarification", () => {
  it("names the limit and each tool once, and asks for details (S0-08, S0-15)", async () => {
    expect(buildClarification(await runScript(() => callSay({ result: "A" })))).toMatchInlineSnapshot(
      `"I'm sorry, I could not find a good answer yet. The limit of 2 turns was reached. I tried say, but that did not settle it. Could you tell me a little more about what you are looking for?"`,
    );
  });

  it("names no tools when none were used (S0-15)", async () => {
    expect(buildClarification(await runScript([{ text: "-" }]))).toBe(
      "I'm sorry, I could not find a good answer yet. A limit was reached. Could you tell me a little more about what you are looking for?",
    );
  });
});
