import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import { isLastTurn } from "../../kernel/budget.ts";
import { type PolicyOverrides, resolvePolicy } from "../../kernel/policy.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { buildWrapUpNote, lastTurnNote } from "./rules.ts";

const twoLeft =
  "Note: you have 2 turns left. Give an answer first. " +
  "If something is missing, ask the user rather than search again, and use what you already know.";
const oneLeft = twoLeft.replace("2 turns", "1 turn");

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "Seen.",
});

/** The request per turn to a model that calls tools for as long as it has any. */
async function collectRequests(policy: PolicyOverrides): Promise<{ note: string; tools: number }[]> {
  const model = scriptedModel(({ tools }, index) =>
    tools.length === 0 || index === 29
      ? { text: "Final." }
      : { calls: [{ name: "look", input: { n: index } }] },
  );
  const agent = defineAgent({ name: "helper", model, instructions: "Base.", tools: [look], policy });
  await run(agent, "Go.", { store: memory() });
  return model.requests.map(({ instructions, tools }) => {
    expect(instructions).toMatch(/^Base\.(\n\n|$)/);
    return { note: instructions.slice("Base.\n\n".length), tools: tools.length };
  });
}

const plain = { note: "", tools: 1 };
const withTwoLeft = { note: twoLeft, tools: 1 };
const withOneLeft = { note: oneLeft, tools: 1 };
const last = { note: lastTurnNote, tools: 0 };

describe("the request as the limit approaches", () => {
  it.each<[number, { note: string; tools: number }[]]>([
    [1, [last]],
    [2, [withOneLeft, last]],
    [3, [withTwoLeft, withOneLeft, last]],
    [4, [plain, withTwoLeft, withOneLeft, last]],
    [10, [...Array<typeof plain>(7).fill(plain), withTwoLeft, withOneLeft, last]],
  ])("is plain, then a note, then no tools, with %i turns (S0-19, S0-20, S0-21, S0-22)", async (maxTurns, sent) => {
    expect(await collectRequests({ maxTurns })).toEqual(sent);
  });

  it("is always plain when turns are unlimited (S0-19, S0-22, C-01)", async () => {
    expect(await collectRequests({ maxTurns: "unlimited" })).toEqual(Array(30).fill(plain));
  });

  it("is plain with all tools on turns 1 to 7 of the default 10 (S0-19)", async () => {
    expect((await collectRequests({})).slice(0, 7)).toEqual(Array(7).fill(plain));
  });

  it("becomes more insistent with every turn, until an answer is forced (S0-23)", async () => {
    const sent = (await collectRequests({ maxTurns: 5 })).map(({ note, tools }) =>
      tools === 0 ? "forced" : note === "" ? "free" : note.match(/\d turns? left/)?.[0],
    );
    expect(sent).toEqual(["free", "free", "2 turns left", "1 turn left", "forced"]);
  });

  it.each<[number, number[]]>([
    [0, []],
    [1, [5]],
    [2, [4, 5]],
    [4, [2, 3, 4, 5]],
    [100, [1, 2, 3, 4, 5]],
  ])("has a note from wrapUpAt %i on, 0 being never (C-04)", async (wrapUpAt, turns) => {
    const sent = await collectRequests({ maxTurns: 6, wrapUpAt });
    expect(sent.flatMap(({ note }, index) => (note.startsWith("Note: you have") ? [index + 1] : []))).toEqual(
      turns,
    );
    expect(sent.at(-1)).toEqual(last);
  });

  it("keeps the tools and has no note in the last turn under keep-tools (C-02)", async () => {
    expect(await collectRequests({ maxTurns: 3, finalTurn: "keep-tools" })).toEqual([
      withTwoLeft,
      withOneLeft,
      plain,
    ]);
  });

  it("has no note about turns for an agent without tools (S4-59)", async () => {
    const model = scriptedModel([{ text: "Hello." }]);
    const agent = defineAgent({ name: "helper", model, instructions: "Base.", policy: { maxTurns: 1 } });
    await run(agent, "Go.", { store: memory() });
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(["Base."]);
  });
});

describe("buildWrapUpNote", () => {
  const policy = resolvePolicy({ maxTurns: 10, wrapUpAt: 2 });

  it("is a pure function of the policy and the turn (S0-22)", () => {
    const notes = Array.from({ length: 11 }, (_, index) => buildWrapUpNote({ policy }, index + 1));
    expect(notes).toEqual([...Array(7).fill(undefined), twoLeft, oneLeft, lastTurnNote, lastTurnNote]);
  });

  it("demands an answer, or the missing information, at the end (S0-21)", () => {
    expect(lastTurnNote).toMatchInlineSnapshot(
      `"You have no turns left and no tools. Give your final answer now from what you know. If you cannot answer, say which information is missing."`,
    );
  });
});

describe("isLastTurn", () => {
  it.each<[number | "unlimited", number, boolean]>([
    [1, 1, true],
    [2, 1, false],
    [2, 2, true],
    [2, 3, true],
    ["unlimited", 1, false],
    ["unlimited", 1_000_000, false],
  ])("with %s turns, of turn %i, is %s (C-01)", (maxTurns, turn, expected) => {
    expect(isLastTurn({ policy: resolvePolicy({ maxTurns }) }, turn)).toBe(expected);
  });
});
