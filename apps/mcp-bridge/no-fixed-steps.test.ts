// The model decides: the bridge does not dispatch by keyword or follow fixed steps.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpTools } from "@capstan/mcp";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, fakeClock, type Script, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bridge } from "./agent.ts";
import { startChildServers } from "./child-servers.ts";
import { formatTextCall } from "./testing/text-call.ts";

const data = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
let mcp: McpTools;
beforeAll(async () => {
  mcp = await startChildServers({ dataFolder: data });
});
afterAll(async () => {
  await mcp.close();
  rmSync(data, { recursive: true });
});

const createConversion = (value: number, to = "mi"): ScriptedStep => ({
  text: formatTextCall("mcp_units_convert", { value, from: "km", to }),
});
const createNoteSearch = (query: string): ScriptedStep => ({
  text: formatTextCall("mcp_notes_search_notes", { query }),
});
const answer: ScriptedStep = { text: "There you are." };

async function runScript(script: Script, prompt = "Help me.") {
  const model = scriptedModel(script);
  const agent = await bridge({ model, mcp, web: false });
  return {
    model,
    ...(await collect(run(agent, prompt, { store: memory(), clock: fakeClock({ skipUpToMs: 1000 }) }))),
  };
}

const getTypes = (facts: readonly { readonly type: string }[]) => facts.map(({ type }) => type);

describe("the bridge", () => {
  it.each([
    [1, [answer]],
    [2, [createConversion(1), answer]],
    [4, [createNoteSearch("Bergen"), createConversion(2), createConversion(3), answer]],
  ])("takes %i turns, with the tools the model chooses, in its order (S4-66)", async (turns, script) => {
    const { result, model } = await runScript(script);
    expect(result).toMatchObject({ status: "done", turns, text: "There you are." });
    expect(model.requests).toHaveLength(turns);
    expect(result.toolCalls.every(({ status }) => status === "ok")).toBe(true);
  });

  it("behaves the same whatever the wording of the question (S4-66)", async () => {
    const ways = await Promise.all(
      [
        "How far is that?",
        "Analyze this step by step, reason about it and explain why.",
        "Delegate this to another agent.",
        "Search the web, fetch the page and compare.",
      ].map(async (prompt) => {
        const { facts, model } = await runScript([createConversion(1), answer], prompt);
        return {
          kinds: getTypes(facts),
          instructions: model.requests.map(({ instructions }) => instructions),
        };
      }),
    );
    for (const way of ways) expect(way).toEqual(ways[0]);
  });

  it("recovers when a tool fails: the model sees why and continues (S4-66)", async () => {
    const { result, model } = await runScript([
      { text: `${createConversion(1, "parsecs").text}\n${createNoteSearch("Bergen").text}` },
      createConversion(1),
      answer,
    ]);
    expect(result).toMatchObject({ status: "done", turns: 3 });
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["error", "ok", "ok"]);
    expect(JSON.stringify(model.requests[1]?.history)).toContain('The unit \\"parsecs\\" is unknown');
  });

  it("answers a simple question immediately, without unnecessary work (S4-57, S4-58, C-30)", async () => {
    const { facts, model } = await runScript([{ text: "Hello to you." }], "Hello");
    expect(getTypes(facts)).toEqual(["run_start", "turn_start", "message", "turn_end", "done"]);
    expect(model.requests).toHaveLength(1);
  });
});
