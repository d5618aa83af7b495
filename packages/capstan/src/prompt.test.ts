import { describe, expect, it } from "vitest";
import { defineAgent, type Instructions, type InstructionsInput } from "./agent.ts";
import { standardInstructions } from "./prompt.ts";
import { run } from "./session.ts";
import { fakeClock } from "./testing/fake-clock.ts";
import { scriptedModel } from "./testing/scripted-model.ts";
import { defineTool } from "./tool.ts";

const search = { name: "search", description: "Searches the knowledge base", input: {} };
const mail = { name: "mail", description: "Searches mail", input: {} };

function render(
  instructions: Instructions,
  given: Partial<InstructionsInput> = {},
): string | Promise<string> {
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
  it("has date, identity, rules, tools, what was found and constraints, in this order (S3-04, S3-50)", () => {
    const instructions = standardInstructions("You are Xyne, an enterprise search assistant.", {
      constraints: "Only answer about budgets.",
      toolFirst: true,
    });
    const fragments = [{ id: "d1", content: "It is 7 million.", source: { title: "Budget 2026" } }];
    expect(render(instructions, { fragments })).toMatchInlineSnapshot(`
      "It is Thursday 1 January 2026 at 09:00 (UTC).

      You are Xyne, an enterprise search assistant.

      - Your first action must be a tool call; do not answer from general knowledge.
      - Answer from what the tools return, with the real names and values in it; never pass on a tool's message as the answer.
      - If what you have is thin, use more tools, or ask one short question and then search.

      Tools:
      - search: Searches the knowledge base
      - mail: Searches mail

      Found so far:
      [1] Budget 2026: It is 7 million.

      Constraints:
      Only answer about budgets."
    `);
  });

  it("names every tool with its description (S3-07)", () => {
    expect(render(standardInstructions("You are Xyne."))).toContain(
      "Tools:\n- search: Searches the knowledge base\n- mail: Searches mail",
    );
  });

  it("tells the model to answer from the results, with their real values (S2-48)", () => {
    expect(render(standardInstructions("You are Xyne."))).toContain(
      "Answer from what the tools return, with the real names and values in it; never pass on a tool's message",
    );
  });

  it("tells it what to do when the context is thin: more tools, or one short question (S3-12)", () => {
    expect(render(standardInstructions("You are Xyne."))).toContain(
      "If what you have is thin, use more tools, or ask one short question and then search.",
    );
  });

  it("demands a tool call first, and forbids general knowledge, only when told to (S3-05)", () => {
    const rule = "Your first action must be a tool call; do not answer from general knowledge.";
    expect(render(standardInstructions("You are Xyne.", { toolFirst: true }))).toContain(rule);
    expect(render(standardInstructions("You are Xyne."))).not.toContain("first action");
  });

  it("leaves out what there is nothing to say about", () => {
    expect(render(standardInstructions("You are Xyne.", { toolFirst: true }), { tools: [] })).toBe(
      "It is Thursday 1 January 2026 at 09:00 (UTC).\n\nYou are Xyne.",
    );
  });

  it("numbers what was found from one, in the order found", () => {
    const fragments = ["a", "b"].map((id) => ({
      id,
      content: `text ${id}`,
      source: { title: id.toUpperCase() },
    }));
    expect(render(standardInstructions("You are Xyne."), { fragments })).toContain(
      "Found so far:\n[1] A: text a\n[2] B: text b",
    );
  });

  it("is assembled anew each turn: the second has what the first has found, and the results (S3-50, S3-02)", async () => {
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
    expect(first?.instructions).not.toContain("Found so far");
    expect(second?.instructions).toContain("Found so far:\n[1] Budget 2026: It is 7 million.");
    expect(second?.history.map((entry) => entry.type)).toEqual(["user", "assistant", "result"]);
  });
});
