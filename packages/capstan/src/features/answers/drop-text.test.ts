import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { type Script, scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Seen.",
});

async function runScript(script: Script, policy: PolicyOverrides = {}) {
  const model = scriptedModel(script);
  const agent = defineAgent({
    name: "helper",
    model,
    tools: [look],
    policy: { textWithCalls: "drop", ...policy },
  });
  const { events, facts, result } = await collect(run(agent, "Go.", { store: memory() }));
  const deltas = events.flatMap((event) => (event.type === "content_delta" ? [event.delta] : []));
  return { model, events, facts, result, deltas };
}

describe("text next to calls that the policy drops (C-16)", () => {
  const script = [{ text: "Let me look.", calls: [{ name: "look" }] }, { text: "It is here." }];

  it("is neither streamed, nor stored, nor sent back", async () => {
    const { model, events, result, deltas } = await runScript(script);
    expect(result).toMatchObject({ status: "done", text: "It is here." });
    expect(deltas).toEqual(["It is here."]);
    expect(JSON.stringify([events, result.history, model.requests])).not.toContain("Let me look");
    expect(model.requests[1]?.history[1]).toMatchObject({ parts: [{ type: "call", name: "look" }] });
  });

  it("is not the last text of a run that ends at a limit", async () => {
    const { result } = await runScript([script[0] ?? {}], { maxTurns: 1, finalTurn: "keep-tools" });
    expect(result.text).toMatch(/^I could not finish this: The limit of 1 turn was reached\./);
    expect(result.text).not.toContain("Let me look");
  });

  it("does not change an answer that is continued at the output limit", async () => {
    const { result, deltas } = await runScript([{ text: "Half", finish: "length" }, { text: " and half." }]);
    expect(result.text).toBe("Half and half.");
    expect(deltas).toEqual(["Half and half."]);
  });
});
