// The model decides: the bridge is no dispatcher by keywords that goes through fixed steps once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpTools } from "@capstan/mcp";
import { run } from "capstan";
import { memory } from "capstan/stores/memory";
import { collect, fakeClock, type Script, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bridge } from "./agent.ts";
import { childServers } from "./child-servers.ts";
import { textCall } from "./testing/text-call.ts";

const data = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
let mcp: McpTools;
beforeAll(async () => {
  mcp = await childServers({ data });
});
afterAll(async () => {
  await mcp.close();
  rmSync(data, { recursive: true });
});

const convert = (value: number, to = "mi"): ScriptedStep => ({
  text: textCall("mcp_units_convert", { value, from: "km", to }),
});
const search = (query: string): ScriptedStep => ({
  text: textCall("mcp_notes_search_notes", { query }),
});
const answer: ScriptedStep = { text: "There you are." };

async function ask(script: Script, says = "Help me.") {
  const model = scriptedModel(script);
  const agent = await bridge({ model, mcp, web: false });
  return {
    model,
    ...(await collect(run(agent, says, { store: memory(), clock: fakeClock({ skipUpToMs: 1000 }) }))),
  };
}

const kinds = (facts: readonly { readonly type: string }[]) => facts.map(({ type }) => type);

describe("the bridge", () => {
  it.each([
    [1, [answer]],
    [2, [convert(1), answer]],
    [4, [search("Bergen"), convert(2), convert(3), answer]],
  ])("takes %i turns, with the tools that the model wants, in its order (S4-66)", async (turns, script) => {
    const { result, model } = await ask(script);
    expect(result).toMatchObject({ status: "done", turns, text: "There you are." });
    expect(model.requests).toHaveLength(turns);
    expect(result.toolCalls.every(({ status }) => status === "ok")).toBe(true);
  });

  it("goes the same way whatever words the question has (S4-66)", async () => {
    const ways = await Promise.all(
      [
        "How far is that?",
        "Analyze this step by step, reason about it and explain why.",
        "Delegate this to another agent.",
        "Search the web, fetch the page and compare.",
      ].map(async (says) => {
        const { facts, model } = await ask([convert(1), answer], says);
        return { kinds: kinds(facts), instructions: model.requests.map(({ instructions }) => instructions) };
      }),
    );
    for (const way of ways) expect(way).toEqual(ways[0]);
  });

  it("recovers when a tool fails: the model sees why, and goes on (S4-66)", async () => {
    const { result, model } = await ask([
      { text: `${convert(1, "parsecs").text}\n${search("Bergen").text}` },
      convert(1),
      answer,
    ]);
    expect(result).toMatchObject({ status: "done", turns: 3 });
    expect(result.toolCalls.map(({ status }) => status)).toEqual(["error", "ok", "ok"]);
    expect(JSON.stringify(model.requests[1]?.history)).toContain('The unit \\"parsecs\\" is not known');
  });

  it("answers a simple question at once: nothing is started that is not needed (S4-57, S4-58, C-30)", async () => {
    const { facts, model } = await ask([{ text: "Hello to you." }], "Hello");
    expect(kinds(facts)).toEqual(["run_start", "turn_start", "message", "turn_end", "done"]);
    expect(model.requests).toHaveLength(1);
  });
});
