import { describe, expect, it } from "vitest";
import { defineAgent } from "./agent.ts";
import { run } from "./session.ts";
import { memory } from "./stores/memory.ts";
import { scriptedModel } from "./testing/scripted-model.ts";
import { defineTool } from "./tool.ts";

type Asker = { readonly user: string; readonly groups: readonly string[] };
const passages = [
  { id: "p1", title: "Holidays", group: "all", content: "There are 25 days." },
  { id: "p2", title: "Salaries", group: "managers", content: "They are secret." },
];

/** Finds only what the asker may read. */
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

function librarian(answer: string) {
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result" ? { text: answer } : { calls: [{ name: "search", input: {} }] },
  );
  return { model, agent: defineAgent({ name: "librarian", model, tools: [search] }) };
}

describe("an agent that answers from passages", () => {
  it("has what its tool found beside the content of the result, to be cited (S3-24)", async () => {
    const { agent } = librarian("You have 25 days [1].");
    const result = await run(agent, "How many days?", { context: { user: "ann", groups: ["all"] } });
    const found = result.history.find((entry) => entry.type === "result");
    expect(found).toMatchObject({
      content: "1 passages",
      contexts: [{ id: "p1", content: "There are 25 days.", source: { title: "Holidays" } }],
    });
    expect(result.citations).toMatchObject([{ n: 1, id: "p1", title: "Holidays" }]);
  });

  it("finds for each person what that person may read (S3-59)", async () => {
    const asked = async (groups: readonly string[]) => {
      const { agent } = librarian("Done.");
      const { history } = await run(agent, "Salaries?", { context: { user: "x", groups } });
      const found = history.find((entry) => entry.type === "result");
      return found?.type === "result" ? found.contexts?.map(({ id }) => id) : [];
    };
    expect(await asked(["all"])).toEqual(["p1"]);
    expect(await asked(["all", "managers"])).toEqual(["p1", "p2"]);
  });

  it("is sent what was said before first, and the question of now last (S3-11)", async () => {
    const store = memory();
    const { agent, model } = librarian("Yes.");
    const context = { user: "ann", groups: [] };
    await run(agent, "First?", { store, session: "s", context });
    await run(agent, "Second?", { store, session: "s", context });
    const kinds = model.requests[2]?.history.map((entry) =>
      entry.type === "user" ? entry.content : entry.type,
    );
    expect(kinds).toEqual(["First?", "assistant", "result", "assistant", "Second?"]);
  });
});
