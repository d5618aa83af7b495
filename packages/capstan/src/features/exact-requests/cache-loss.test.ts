import { describe, expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const look = defineTool({
  ...{ name: "look", description: "Looks", input: { type: "object" }, effects: "none" },
  execute: () => "seen",
});

type Call = { readonly cached?: number | undefined; readonly input?: number };

/** A model that calls `look` in every turn but the last, with the usage of each. */
function createModel(calls: readonly Call[]) {
  return scriptedModel(
    calls.map(({ cached, input = 5000 }, index) => ({
      ...(index < calls.length - 1 ? { calls: [{ name: "look", input: { at: index } }] } : { text: "Done." }),
      usage: { inputTokens: input, outputTokens: 5, ...(cached !== undefined && { cachedTokens: cached }) },
    })),
  );
}

/** Instructions that differ in every turn. */
const counting = ({ turn }: { turn: number }) => `Be brief. Attempt ${turn}.`;

type Options = { readonly instructions?: Parameters<typeof defineAgent>[0]["instructions"] };

async function listWarnings(calls: readonly Call[], { instructions = counting }: Options = {}) {
  const agent = defineAgent({ name: "a", model: createModel(calls), instructions, tools: [look] });
  const { facts } = await collect(run(agent, "Go"));
  return facts.flatMap((fact) => (fact.type === "warning" ? [fact] : []));
}

describe("a lost prompt cache", () => {
  it("is reported once per cause, with the tokens and the first difference", async () => {
    const warnings = await listWarnings([{ cached: 0 }, { cached: 0 }, { cached: 0 }]);
    expect(warnings).toMatchObject([{ code: "cache_prefix_changed", turn: 2 }]);
    expect(warnings[0]?.message).toBe(
      "The provider's cache could not be used for about 5,000 tokens, because the start of the request changed. " +
        'The instructions differ in a number from character 19 on. Before: "Be brief. Attempt 1.", now: "Be brief. Attempt 2.".',
    );
  });

  it.each<[string, readonly Call[]]>([
    ["the provider reports no caching", [{}, {}]],
    [
      "the request is too short to be cached",
      [
        { cached: 0, input: 1000 },
        { cached: 0, input: 1020 },
      ],
    ],
    ["most of it was cached all the same", [{ cached: 0 }, { cached: 4200 }]],
    [
      "only its end was lost",
      [
        { cached: 0, input: 10_000 },
        { cached: 8500, input: 10_500 },
      ],
    ],
  ])("is not reported if %s", async (_, calls) => {
    expect(await listWarnings(calls)).toEqual([]);
  });

  it("is not reported if the request only grew: the provider dropped it", async () => {
    expect(await listWarnings([{ cached: 0 }, { cached: 0 }], { instructions: "Be brief." })).toEqual([]);
  });

  it("is found in the next run of the session, without a quote of the earlier one", async () => {
    const store = memory();
    const clock = fakeClock();
    const send = async (text: string) => {
      const instructions = () => `Today is ${text}.`;
      const agent = defineAgent({ name: "a", model: createModel([{ cached: 0 }]), instructions });
      const { facts } = await collect(run(agent, "Go", { session: "cache-runs", store, clock }));
      return facts.flatMap((fact) => (fact.type === "warning" ? [fact.message] : []));
    };
    expect(await send("Monday")).toEqual([]);
    const [warning] = await send("Tuesday");
    expect(warning).toContain('differ in a date or time from character 10 on. Now: "Today is Tuesday.".');
    expect(warning).not.toContain("Monday");
    await clock.advance(6 * 60_000);
    expect(await send("Wednesday")).toEqual([]); // no provider would have kept it
  });

  it("names the result that a smaller budget shortened", async () => {
    const long = defineTool({
      ...{ name: "look", description: "Looks", input: { type: "object" }, effects: "none" },
      execute: () => "word ".repeat(2000),
    });
    const model = createModel([
      ...[
        { cached: 0, input: 2000 },
        { cached: 2000, input: 4500 },
        { cached: 4500, input: 7000 },
      ],
      { cached: 100, input: 5000 },
    ]);
    const agent = defineAgent({
      name: "a",
      model,
      tools: [long],
      policy: { contextBudget: 9000, maxToolResultSize: "unlimited" },
    });
    const { facts } = await collect(run(agent, "Go"));
    expect(facts.some(({ type }) => type === "compacted")).toBe(true);
    expect(
      facts.find((fact) => fact.type === "warning" && fact.code === "cache_prefix_changed"),
    ).toMatchObject({
      message: expect.stringContaining("The result of look in entry 3 was shortened or replaced."),
    });
  });

  it("is reported without secrets, also without parts of them (A110)", async () => {
    const secret = "sk-proj-canary-0123456789abcdef-ghijklmnopqrstuvwxyz";
    const instructions = ({ turn }: { turn: number }) =>
      `${"x".repeat(30)} ${turn === 1 ? secret : secret.slice(0, 20)} end`;
    const agent = defineAgent({
      name: "a",
      model: createModel([{ cached: 0 }, { cached: 0 }]),
      instructions,
      tools: [look],
    });
    const { facts } = await collect(run(agent, "Go", { secrets: [secret, secret.slice(0, 20)] }));
    expect(facts.filter(({ type }) => type === "warning")).toHaveLength(0); // masked, both are the same text
    const rotated = ({ turn }: { turn: number }) => `Key ${secret} is number ${turn}, ${secret}`;
    const other = defineAgent({
      name: "a",
      model: createModel([{ cached: 0 }, { cached: 0 }]),
      instructions: rotated,
      tools: [look],
    });
    const { facts: warned } = await collect(run(other, "Go", { secrets: [secret] }));
    const text = JSON.stringify(warned.filter(({ type }) => type === "warning"));
    expect(text).toContain("Key *** is number 2, ***");
    expect(text).not.toContain("canary");
  });
});
