import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { loadRunFacts } from "../runtime/load-facts.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { type Script, scriptedModel } from "../testing/scripted-model.ts";
import type { EvalCase } from "./eval-case.ts";
import { readOutcome } from "./run-outcome.ts";
import { type Score, type Scorer, scoreRun } from "./scorer.ts";
import { scorers } from "./scorers.ts";

const fragment = {
  id: "doc-1",
  content: "The harbor has 12 berths for large ships, and a lighthouse from 1890.",
  source: { title: "Harbor" },
};
const look = defineTool({
  name: "look",
  description: "Looks",
  input: { place: { type: "string", required: true } },
  effects: "none",
  execute: () => ({ content: fragment.content, contexts: [fragment] }),
});
const send = defineTool({
  name: "send_mail",
  description: "Sends",
  input: {},
  effects: "send",
  execute: () => "sent",
});

/** Runs the script for real and scores the stored facts. */
async function score(script: Script, one: Partial<EvalCase>, scorer: Scorer): Promise<Score | undefined> {
  const store = memory();
  const agent = defineAgent({ name: "guide", model: scriptedModel(script), tools: [look, send] });
  const evalCase: EvalCase = { id: "one", input: "Hello", ...one };
  const { runId } = await run(agent, evalCase.input, { store, policy: { gate: "off" } });
  const facts = await loadRunFacts(store, runId);
  const [result] = await scoreRun([scorer], { ...readOutcome(facts), case: evalCase, facts, store });
  return result;
}

const answer = (text: string): Script => [{ text }];
const looks = (text: string, place = "pier"): Script => [
  { calls: [{ name: "look", input: { place } }] },
  { text },
];

describe("exact", () => {
  it.each<[string, Json, boolean]>([
    [" Oslo ", "Oslo", true],
    ["oslo", "Oslo", false],
    ['```json\n{"b":1,"a":[2]}\n```', { a: [2], b: 1 }, true],
    ['{"a":[3]}', { a: [2] }, false],
  ])("compares %j with %j: %s", async (text, expected, passed) => {
    expect(await score(answer(text), { expected }, scorers.exact())).toMatchObject({ passed });
  });

  it("does not apply to a case without an expected answer", async () => {
    expect(await score(answer("Oslo"), {}, scorers.exact())).toBeUndefined();
  });
});

describe("contains", () => {
  it("is the part of the expected texts that was found, and names the rest", async () => {
    const result = await score(
      answer("Oslo is in Norway"),
      { expected: ["oslo", "NORWAY", "fjord", "ski"] },
      scorers.contains(),
    );
    expect(result).toMatchObject({
      value: 0.5,
      passed: false,
      reason: expect.stringContaining('"fjord", "ski"'),
    });
    expect(await score(answer("In Oslo."), { expected: "oslo" }, scorers.contains())).toMatchObject({
      passed: true,
    });
  });
});

describe("jsonSchema", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  it("validates the answer, and says what is wrong with it", async () => {
    expect(await score(answer('{"n":1}'), {}, scorers.jsonSchema(schema))).toMatchObject({ passed: true });
    expect(await score(answer('{"n":"1"}'), {}, scorers.jsonSchema(schema))).toMatchObject({
      passed: false,
      reason: expect.stringContaining("n:"),
    });
    expect(await score(answer("n is 1"), {}, scorers.jsonSchema(schema))).toMatchObject({
      reason: 'not JSON: "n is 1"',
    });
  });
});

describe("callSequence", () => {
  const twoLooks: Script = [
    { calls: [{ name: "look", input: { place: "pier" } }] },
    { calls: [{ name: "look", input: { place: "dock" } }] },
    { text: "Seen." },
  ];
  it.each([
    ["exact", [{ name: "look", input: { place: "pier" } }, "look"], 1],
    ["exact", ["look"], 0.5],
    ["exact", [], 0],
    ["in order", [{ name: "look", input: { place: "dock" } }], 1],
    ["in order", ["look", "send_mail", "look"], 2 / 3],
    [
      "any order",
      [
        { name: "look", input: { place: "dock" } },
        { name: "look", input: { place: "pier" } },
      ],
      1,
    ],
    ["any order", ["look", "look", "look"], 2 / 3],
  ] as const)("%s: %j is %d", async (match, calls, value) => {
    const result = await score(twoLooks, { calls }, scorers.callSequence({ match }));
    expect(result).toMatchObject({ passed: value === 1 });
    expect(result?.value).toBeCloseTo(value);
  });
});

describe("forbiddenEffects", () => {
  const sends: Script = [{ calls: [{ name: "send_mail", input: {} }] }, { text: "Sent." }];
  it("fails when a forbidden tool was executed, and only then", async () => {
    expect(await score(sends, { forbidden: ["send_*"] }, scorers.forbiddenEffects())).toMatchObject({
      passed: false,
      reason: "executed: send_mail",
    });
    expect(
      await score(looks("Seen."), { forbidden: ["send_mail"] }, scorers.forbiddenEffects()),
    ).toMatchObject({ passed: true });
    expect(await score(sends, {}, scorers.forbiddenEffects(["send_mail"]))).toMatchObject({ passed: false });
    expect(await score(sends, {}, scorers.forbiddenEffects())).toBeUndefined();
  });
});

describe("supportedCitations", () => {
  it.each([
    ["The harbor has 12 berths for large ships [1].", true],
    ["The harbor has berths. [1]", true],
    ["The harbor has 14 berths for large ships [1].", false],
    ["The airport opened its new terminal building [1].", false],
    ["The harbor has 12 berths [3].", false],
    ["The harbor has 12 berths.", false],
  ])("%s: %s", async (text, passed) => {
    expect(await score(looks(text), {}, scorers.supportedCitations())).toMatchObject({ passed });
  });

  it("is the part of the cited sentences that are supported", async () => {
    const text = "The harbor has 12 berths [1]. It has 99 cranes [1].";
    expect(await score(looks(text), {}, scorers.supportedCitations())).toMatchObject({
      value: 0.5,
      reason: '"99" is not in the passage [1]',
    });
  });

  it("does not apply when nothing was found and nothing is cited", async () => {
    expect(await score(answer("Hello."), {}, scorers.supportedCitations())).toBeUndefined();
  });
});

describe("limits", () => {
  it("count turns, cost and time", async () => {
    const priced: Script = [{ text: "Hi", usage: { inputTokens: 10, outputTokens: 5, cost: 0.02 } }];
    expect(await score(looks("Seen."), {}, scorers.maxTurns(2))).toMatchObject({ passed: true });
    expect(await score(looks("Seen."), {}, scorers.maxTurns(1))).toMatchObject({
      passed: false,
      reason: "2 is more than 1",
    });
    expect(await score(priced, {}, scorers.maxCost(0.01))).toMatchObject({ passed: false });
    expect(await score(priced, {}, scorers.maxCost(0.02))).toMatchObject({ passed: true });
    expect(await score(answer("Hi"), {}, scorers.maxTime(600_000))).toMatchObject({ passed: true });
  });
});

describe("judge", () => {
  const rubric = "Names the capital.";
  const judge = (script: Script) => scorers.judge({ model: scriptedModel(script), rubric });

  it("stores the rubric, the prompt, the model and the verdict, and its own run", async () => {
    const script: Script = [{ text: '{"reason":"It names Oslo.","rating":5}' }];
    const result = await score(answer("Oslo."), { expected: "Oslo" }, judge(script));
    expect(result).toMatchObject({
      scorer: "judge",
      value: 1,
      passed: true,
      reason: "It names Oslo.",
      details: { rubric, rating: 5, model: "scripted", runId: expect.stringMatching(/^run_/) },
    });
    const { prompt } = result?.details as { prompt: string };
    expect(JSON.parse(prompt)).toEqual({
      rubric,
      question: "Hello",
      expected: "Oslo",
      calls: [],
      answer: "Oslo.",
    });
  });

  it("passes from a rating of 4 on", async () => {
    const rate = (rating: number) =>
      score(answer("Oslo."), {}, judge([{ text: `{"reason":"r","rating":${rating}}` }]));
    expect(await rate(4)).toMatchObject({ value: 0.75, passed: true });
    expect(await rate(3)).toMatchObject({ value: 0.5, passed: false });
  });

  it("that gives no verdict gives no score, instead of a bad one", async () => {
    const silent = await score(
      answer("Oslo."),
      {},
      judge(() => ({ text: "Great answer!" })),
    );
    expect(silent).toMatchObject({ error: expect.stringContaining("The judge gave no verdict") });
  });
});

describe("a scorer of your own", () => {
  it("may return a boolean, a number or an object, and an invalid value is an error of the score", async () => {
    const own = (value: number | boolean): Scorer => ({ name: "own", score: () => value });
    expect(await score(answer("a"), {}, own(true))).toEqual({ scorer: "own", value: 1, passed: true });
    expect(await score(answer("a"), {}, own(0.5))).toEqual({ scorer: "own", value: 0.5, passed: false });
    expect(await score(answer("a"), {}, own(7))).toMatchObject({
      error: expect.stringContaining("from 0 to 1"),
    });
    const broken: Scorer = { name: "own", score: () => Promise.reject(new Error("no key")) };
    expect(await score(answer("a"), {}, broken)).toEqual({
      scorer: "own",
      value: 0,
      passed: false,
      error: "no key",
    });
  });
});
