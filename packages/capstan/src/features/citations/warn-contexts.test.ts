import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { collect } from "../../testing/collect.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const passage = { id: "p1", content: "Whales sing.", source: { title: "Whales" } };

/** Runs a tool that returns the value, and returns the warnings of the run. */
async function listWarnings(returned: unknown): Promise<readonly string[]> {
  const search = defineTool({
    ...{ name: "search", description: "Searches.", input: {}, effects: "none" },
    execute: () => returned,
  });
  const model = scriptedModel([{ calls: [{ name: "search" }] }, { text: "They sing [1]." }]);
  const { facts } = await collect(run(defineAgent({ name: "a", model, tools: [search] }), "Do whales sing?"));
  return facts.flatMap((fact) =>
    fact.type === "warning" && fact.code === "contexts_ignored" ? fact.message : [],
  );
}

describe("contexts that a tool returns in another form", () => {
  it.each<[string, unknown]>([
    ["contexts is not a list", { contexts: { p1: passage } }],
    ["contexts[0] is not an object", { contexts: ["Whales sing."] }],
    ["contexts[1].id is not a text", { contexts: [passage, { ...passage, id: 7 }] }],
    [
      "contexts[0].content is not a text",
      { content: "Found.", contexts: [{ id: "p1", text: "Whales sing." }] },
    ],
    ["contexts[0].source.title is not a text", { contexts: [{ ...passage, source: "Whales" }] }],
    [
      "contexts[0].source.title is not a text",
      { status: "success", content: "Found.", metadata: { contexts: [{ ...passage, source: {} }] } },
    ],
    ["(contexts, total)", { contexts: [passage], total: 1 }],
    ["(contexts, message)", { contexts: [passage], message: 5 }],
  ])("are named in a warning to the developer: %s", async (problem, returned) => {
    const [warning, ...others] = await listWarnings(returned);
    expect(warning).toContain('The tool "search" returned contexts that cannot be cited: ');
    expect(warning).toContain(problem);
    expect(others).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["passages", { contexts: [passage] }],
    ["no passage", { content: "Nothing found.", contexts: [] }],
    ["an own value without contexts", { id: 7, source: "Whales" }],
    ["text", "Whales sing."],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("no");
          },
        },
      ),
    ],
  ])("are not seen in %s", async (_, returned) => {
    expect(await listWarnings(returned)).toEqual([]);
  });
});
