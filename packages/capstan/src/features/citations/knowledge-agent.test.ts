import { describe, expect, it } from "vitest";
import { defineAgent, type FallbackInput } from "../../kernel/agent.ts";
import { isFact } from "../../kernel/event.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

type Asker = { readonly user: string; readonly groups: readonly string[] };
const passages = [
  { id: "p1", title: "Holidays", group: "all", content: "There are 25 days." },
  { id: "p2", title: "Salaries", group: "managers", content: "They are secret." },
];

/** Finds only passages the user may read. */
const search = defineTool({
  name: "search",
  description: "Searches the handbook.",
  input: {},
  effects: "none",
  execute(_, { context }) {
    const { groups } = context as Asker;
    const found = passages.filter(({ group }) => groups.includes(group));
    return {
      content: `${found.length} passages`,
      contexts: found.map(({ id, title, content }) => ({ id, content, source: { title } })),
    };
  },
});

function createLibrarian(answer: string) {
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result" ? { text: answer } : { calls: [{ name: "search", input: {} }] },
  );
  return { model, agent: defineAgent({ name: "librarian", model, tools: [search] }) };
}

describe("an agent that answers from passages", () => {
  it("gets the tool's fragments besides the content of the result, to cite them (S3-24)", async () => {
    const { agent } = createLibrarian("You have 25 days [1].");
    const result = await run(agent, "How many days?", { context: { user: "ann", groups: ["all"] } });
    const found = result.history.find((entry) => entry.type === "result");
    expect(found).toMatchObject({
      content: "1 passages",
      contexts: [{ id: "p1", content: "There are 25 days.", source: { title: "Holidays" } }],
    });
    expect(result.citations).toMatchObject([{ n: 1, id: "p1", title: "Holidays" }]);
  });

  it("finds only the passages each user may read (S3-59)", async () => {
    const asked = async (groups: readonly string[]) => {
      const { agent } = createLibrarian("Done.");
      const { history } = await run(agent, "Salaries?", { context: { user: "x", groups } });
      const found = history.find((entry) => entry.type === "result");
      return found?.type === "result" ? found.contexts?.map(({ id }) => id) : [];
    };
    expect(await asked(["all"])).toEqual(["p1"]);
    expect(await asked(["all", "managers"])).toEqual(["p1", "p2"]);
  });

  it("receives the earlier conversation first and the current question last (S3-11)", async () => {
    const store = memory();
    const { agent, model } = createLibrarian("Yes.");
    const context = { user: "ann", groups: [] };
    await run(agent, "First?", { store, session: "s", context });
    await run(agent, "Second?", { store, session: "s", context });
    const kinds = model.requests[2]?.history.map((entry) =>
      entry.type === "user" ? entry.content : entry.type,
    );
    expect(kinds).toEqual(["First?", "assistant", "result", "assistant", "Second?"]);
  });

  it("that keeps searching ends at its limit with its searches and the missing answer, and the trace says why (K5)", async () => {
    const model = scriptedModel((_, turn) => ({
      calls: [{ name: "search", input: { query: `budget ${turn}` } }],
    }));
    const find = defineTool({
      name: "search",
      description: "Searches.",
      input: { query: { type: "string" } },
      effects: "none",
      execute: ({ query }) => `Nothing about ${query}.`,
    });
    const fallBack = defineTool({
      name: "fall_back",
      description: "Says what could not be found.",
      input: { type: "object" },
      execute(input) {
        const { tried, reason } = input as FallbackInput;
        const searched = tried.map(({ tool, preview }) => `${tool}: ${preview}`).join(" ");
        return `I looked ${tried.length} times (${searched}) and the answer is still missing. ${reason}`;
      },
    });
    const agent = defineAgent({
      name: "librarian",
      model,
      tools: [find],
      fallbackTool: fallBack,
      policy: { maxTurns: 3, finalTurn: "keep-tools", onLimit: ["fallback-tool"] },
    });
    const { events, result } = await collect(run(agent, "What about the budget?"));
    expect(model.requests).toHaveLength(3);
    expect(result.status).toBe("limit");
    expect(result.text).toBe(
      "I looked 3 times (search: Nothing about budget 0. search: Nothing about budget 1. search: Nothing about budget 2.) and the answer is still missing. The limit of 3 turns was reached.",
    );
    const types = events.filter(isFact).map((fact) => fact.type);
    expect(types.slice(types.indexOf("limit_reached"))).toEqual([
      "limit_reached",
      "tool_call_start",
      "tool_call_result",
      "done",
    ]);
  });
});
