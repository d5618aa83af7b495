import { describe, expect, it } from "vitest";
import { run } from "../runtime/run.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { defineAgent, type Instructions, type InstructionsInput } from "./agent.ts";
import {
  citationSection,
  constraintsSection,
  dateSection,
  identitySection,
  joinInstructions,
  rulesSection,
  standardInstructions,
  toolsSection,
} from "./prompt.ts";
import { defineTool } from "./tool.ts";

const search = { name: "search", description: "Searches the knowledge base", input: {} };
const mail = { name: "mail", description: "Searches mail", input: {} };

async function render(instructions: Instructions, given: Partial<InstructionsInput> = {}): Promise<string> {
  if (typeof instructions === "string") return instructions;
  return instructions({
    now: "Thursday 1 January 2026 at 09:00 (UTC)",
    timeZone: "UTC",
    turn: 1,
    maxTurns: 10,
    tools: [search, mail],
    fragments: [],
    context: undefined,
    ...given,
  });
}

describe("standardInstructions", () => {
  it("has date, identity, rules, tools, constraints and citation rules, in this order, and no sources, which change (S3-04, S3-09, S3-10, S3-50)", async () => {
    const instructions = standardInstructions("You are Xyne, an enterprise search assistant.", {
      constraints: "Only answer about budgets.",
      toolFirst: true,
    });
    const fragments = [{ n: 1, id: "d1", content: "It is 7 million.", source: { title: "Budget 2026" } }];
    expect(await render(instructions, { fragments })).toMatchInlineSnapshot(`
      "It is Thursday 1 January 2026 at 09:00 (UTC).

      You are Xyne, an enterprise search assistant.

      - Your first action must be a tool call; do not answer from general knowledge.
      - Answer from what the tools return, with the real names and values in it; never pass on a tool's message as the answer.
      - If what you have is thin, use more tools, or ask one short question and then search.

      Tools:
      - search: Searches the knowledge base
      - mail: Searches mail

      Constraints:
      Only answer about budgets.

      Citations: tool results list sources by number. After each statement that a source supports, write its number in square brackets, such as [1] or [1][2]. Use only numbers from results, which sources keep; never make one up."
    `);
  });

  it("names every tool with its description (S3-07)", async () => {
    expect(await render(standardInstructions("You are Xyne."))).toContain(
      "Tools:\n- search: Searches the knowledge base\n- mail: Searches mail",
    );
  });

  it("tells the model to answer from the results, with their real values (S2-48)", async () => {
    expect(await render(standardInstructions("You are Xyne."))).toContain(
      "Answer from what the tools return, with the real names and values in it; never pass on a tool's message",
    );
  });

  it("says what to do when the context is thin: more tools, or one short question (S3-12)", async () => {
    expect(await render(standardInstructions("You are Xyne."))).toContain(
      "If what you have is thin, use more tools, or ask one short question and then search.",
    );
  });

  it("requires a tool call first, and forbids general knowledge, only if configured (S3-05)", async () => {
    const rule = "Your first action must be a tool call; do not answer from general knowledge.";
    expect(await render(standardInstructions("You are Xyne.", { toolFirst: true }))).toContain(rule);
    expect(await render(standardInstructions("You are Xyne.", { toolFirst: "auto" }))).toContain(
      `${rule} Only small talk and arithmetic need no tool.`,
    );
    expect(await render(standardInstructions("You are Xyne."))).not.toContain("first action");
  });

  it("omits empty sections", async () => {
    expect(await render(standardInstructions("You are Xyne.", { toolFirst: true }), { tools: [] })).toBe(
      "It is Thursday 1 January 2026 at 09:00 (UTC).\n\nYou are Xyne.",
    );
  });

  it("is made of sections that can be reordered, dropped and added to (S3-02, S3-60)", async () => {
    const sections: Instructions[] = [
      identitySection("You are Xyne."),
      "Speak Norwegian.",
      async ({ context }) => `The user is ${context}.`,
      constraintsSection(),
      rulesSection(),
      toolsSection,
      citationSection,
      dateSection,
    ];
    expect(await render(joinInstructions(sections), { tools: [], context: "Kari" })).toBe(
      "You are Xyne.\n\nSpeak Norwegian.\n\nThe user is Kari.\n\nIt is Thursday 1 January 2026 at 09:00 (UTC).",
    );
  });

  it("is the same in the second turn, which has the sources in the result of the first (S3-08, S3-50, S3-02)", async () => {
    const find = defineTool({
      name: "search",
      description: "Searches",
      input: { type: "object" },
      execute: () => ({
        content: "1 document",
        contexts: [{ id: "d1", content: "It is 7 million.", source: { title: "Budget 2026" } }],
      }),
    });
    const model = scriptedModel([{ calls: [{ name: "search" }] }, { text: "7 million [1]." }]);
    const agent = defineAgent({
      name: "xyne",
      model,
      tools: [find],
      instructions: standardInstructions("You are Xyne."),
    });
    await run(agent, "What is the budget?", { clock: fakeClock(), timeZone: "Europe/Oslo" });
    const [first, second] = model.requests;
    expect(first?.instructions).toMatch(
      /^It is Thursday,? 1 January 2026 at 01:00 \(Europe\/Oslo\)\.\n\nYou are Xyne\./,
    );
    expect(second?.instructions).toBe(first?.instructions);
    expect(second?.history.map((entry) => entry.type)).toEqual(["user", "assistant", "result"]);
    expect(second?.history[2]).toMatchObject({
      content: expect.stringMatching(
        /^1 document\n\nSources, .*\n<sources>\n\[1\] Budget 2026\n> It is 7 million\.\n<\/sources>$/,
      ),
    });
  });

  it("has the tools and the context as they are in each turn, not as they were in the first (D-22)", async () => {
    const context = { place: "Oslo" };
    const tool = (name: string, act: () => void) =>
      defineTool({ name, description: `The tool ${name}`, input: { type: "object" }, execute: act });
    const later = tool("later", () => undefined);
    const first = tool("first", () => {
      offered.push(later);
      context.place = "Bergen";
    });
    const offered = [first];
    const model = scriptedModel([{ calls: [{ name: "first" }] }, { text: "Done." }]);
    const agent = defineAgent({
      name: "a",
      model,
      tools: () => offered,
      instructions: (given) =>
        `${given.tools.map(({ name }) => name).join(" and ")} in ${(given.context as typeof context).place}`,
    });
    await run(agent, "Go", { context });
    expect(model.requests.map(({ instructions }) => instructions)).toEqual([
      "first in Oslo",
      "first and later in Bergen",
    ]);
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 2]);
  });
});
