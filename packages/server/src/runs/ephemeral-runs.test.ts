import { defineAgent, defineTool, type PolicyOverrides, type Usage } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import type { Caller } from "../access/caller.ts";
import { allowance } from "../access/quota.ts";
import { type Passing, type PassingLeg, passing, type WaitingLimits } from "./ephemeral-runs.ts";

const limits = { streams: 10, runs: 2, tokensPerDay: 100, costPerDay: 100 };
const ada: Caller = { user: "ada", scope: "ada", isAdmin: false, limits };
const eve: Caller = { ...ada, user: "eve", scope: "eve" };

let runs: Passing;
let used: Usage[];
afterEach(() => runs.close(Promise.resolve()));

function open(waiting: WaitingLimits = {}): Passing {
  used = [];
  runs = passing({
    policy: undefined,
    allowance: allowance(),
    spending: {
      within: async (_, policy: PolicyOverrides) => policy,
      add: async () => undefined,
    },
    optionsFor: async () => ({
      hooks: {
        onEvent(event) {
          if (event.type === "done") used.push(event.usage);
        },
      },
    }),
    waiting,
  });
  return runs;
}

const theirs = defineTool({ name: "theirs", description: "The client runs it.", input: {} });
const danger = defineTool({
  name: "danger",
  description: "Needs a person.",
  input: {},
  needsApproval: true,
  execute: () => "done",
});

function start(caller: Caller, name = "theirs"): Promise<PassingLeg> {
  const model = scriptedModel([{ calls: [{ id: "c", name }] }, { text: "Thanks." }]);
  const agent = defineAgent({ name: "helper", model, tools: [theirs, danger] });
  return runs.start(caller, { agent, entries: [{ type: "user", content: "Go." }] });
}

async function waits(caller: Caller): Promise<string> {
  const leg = await start(caller);
  expect((await leg.result).status).toBe("waiting");
  return leg.runId;
}

const results = new Map([["c", "Here."]]);

it("a run that waits goes on with its results, once, and only for its user", async () => {
  open();
  const runId = await waits(ada);
  expect(runs.answer(eve, { runId, results })).toBeUndefined();
  expect(runs.answer(ada, { runId, results: new Map([["other", ""]]) })).toBeUndefined();
  const leg = runs.answer(ada, { runId, results });
  expect((await leg?.result)?.text).toBe("Thanks.");
  expect(used).toEqual([{ inputTokens: 20, outputTokens: 10 }]);
  expect(runs.answer(ada, { runId, results })).toBeUndefined();
});

it("only so many wait for each user, and what the others have used is counted", async () => {
  open({ most: 2 });
  const first = await waits(ada);
  const other = await waits(eve);
  await waits(ada);
  await waits(ada);
  expect(runs.answer(ada, { runId: first, results })).toBeUndefined();
  await expect.poll(() => used).toEqual([{ inputTokens: 10, outputTokens: 5 }]);
  expect((await runs.answer(eve, { runId: other, results })?.result)?.text).toBe("Thanks.");
});

it("a run waits only for so long", async () => {
  open({ patienceMs: 1 });
  const short = await waits(ada);
  await expect.poll(() => used).toHaveLength(1);
  expect(runs.answer(ada, { runId: short, results })).toBeUndefined();
});

it("what waits when the server leaves is counted, too", async () => {
  open();
  await waits(ada);
  await runs.close(new Promise(() => undefined));
  expect(used).toEqual([{ inputTokens: 10, outputTokens: 5 }]);
});

it("what needs a person is denied: nobody can be asked", async () => {
  open();
  const leg = await start(ada, "danger");
  const { status, toolCalls } = await leg.result;
  expect(status).toBe("done");
  expect(toolCalls).toMatchObject([{ name: "danger", status: "denied" }]);
});

it("runs at work are counted, and one that waits is not at work (A92)", async () => {
  open();
  const leg = await start(ada);
  const second = await start(ada);
  await expect(start(ada)).rejects.toMatchObject({ code: "rate_limited" });
  await Promise.all([leg.result, second.result]);
  await expect(start(ada)).resolves.toBeDefined();
});

it("a client that has gone ends its run, unless the run is at rest", async () => {
  open();
  const leg = await start(ada);
  leg.abandon();
  expect((await leg.result).status).toBe("cancelled");
  const resting = await start(ada);
  await resting.result;
  resting.abandon();
  expect((await runs.answer(ada, { runId: resting.runId, results })?.result)?.text).toBe("Thanks.");
});
