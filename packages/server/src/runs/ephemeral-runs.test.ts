import { defineAgent, defineTool, type PolicyOverrides, type Usage } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import type { Caller } from "../access/caller.ts";
import { createQuota } from "../access/quota.ts";
import {
  createEphemeralRuns,
  type EphemeralRuns,
  type EphemeralSegment,
  type SuspendedRunLimits,
} from "./ephemeral-runs.ts";

const limits = { streams: 10, runs: 2, tokensPerDay: 100, costPerDay: 100 };
const ada: Caller = { user: "ada", scope: "ada", isAdmin: false, limits };
const eve: Caller = { ...ada, user: "eve", scope: "eve" };

let runs: EphemeralRuns;
let used: Usage[];
afterEach(() => runs.close(Promise.resolve()));

function open(waiting: SuspendedRunLimits = {}): EphemeralRuns {
  used = [];
  runs = createEphemeralRuns({
    policy: undefined,
    quota: createQuota(),
    dailyBudget: {
      clampPolicy: async (_, policy: PolicyOverrides) => policy,
      addUsage: async () => undefined,
    },
    getRunOptions: async () => ({
      hooks: {
        onEvent(event) {
          if (event.type === "done") used.push(event.usage);
        },
      },
    }),
    limits: waiting,
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

function start(caller: Caller, name = "theirs"): Promise<EphemeralSegment> {
  const model = scriptedModel([{ calls: [{ id: "c", name }] }, { text: "Thanks." }]);
  const agent = defineAgent({ name: "helper", model, tools: [theirs, danger] });
  return runs.start(caller, { agent, entries: [{ type: "user", content: "Go." }] });
}

async function startWaiting(caller: Caller): Promise<string> {
  const segment = await start(caller);
  expect((await segment.result).status).toBe("waiting");
  return segment.runId;
}

const results = new Map([["c", "Here."]]);

it("a waiting run continues with its results, once, and only for its user", async () => {
  open();
  const runId = await startWaiting(ada);
  expect(runs.resume(eve, { runId, results })).toBeUndefined();
  expect(runs.resume(ada, { runId, results: new Map([["other", ""]]) })).toBeUndefined();
  const segment = runs.resume(ada, { runId, results });
  expect((await segment?.result)?.text).toBe("Thanks.");
  expect(used).toEqual([{ inputTokens: 20, outputTokens: 10 }]);
  expect(runs.resume(ada, { runId, results })).toBeUndefined();
});

it("the number of waiting runs per user is limited, and the usage of dropped runs is counted", async () => {
  open({ maxPerUser: 2 });
  const first = await startWaiting(ada);
  const other = await startWaiting(eve);
  await startWaiting(ada);
  await startWaiting(ada);
  expect(runs.resume(ada, { runId: first, results })).toBeUndefined();
  await expect.poll(() => used).toEqual([{ inputTokens: 10, outputTokens: 5 }]);
  expect((await runs.resume(eve, { runId: other, results })?.result)?.text).toBe("Thanks.");
});

it("a run waits for a limited time", async () => {
  open({ timeoutMs: 1 });
  const short = await startWaiting(ada);
  await expect.poll(() => used).toHaveLength(1);
  expect(runs.resume(ada, { runId: short, results })).toBeUndefined();
});

it("runs that wait during shutdown are counted, too", async () => {
  open();
  await startWaiting(ada);
  await runs.close(new Promise(() => undefined));
  expect(used).toEqual([{ inputTokens: 10, outputTokens: 5 }]);
});

it("a call that needs approval is denied", async () => {
  open();
  const segment = await start(ada, "danger");
  const { status, toolCalls } = await segment.result;
  expect(status).toBe("done");
  expect(toolCalls).toMatchObject([{ name: "danger", status: "denied" }]);
});

it("active runs are counted, waiting ones are not (A92)", async () => {
  open();
  const segment = await start(ada);
  const second = await start(ada);
  await expect(start(ada)).rejects.toMatchObject({ code: "rate_limited" });
  await Promise.all([segment.result, second.result]);
  await expect(start(ada)).resolves.toBeDefined();
});

it("a client that disconnects ends its run, unless the run is suspended", async () => {
  open();
  const segment = await start(ada);
  segment.cancel();
  expect((await segment.result).status).toBe("cancelled");
  const resting = await start(ada);
  await resting.result;
  resting.cancel();
  expect((await runs.resume(ada, { runId: resting.runId, results })?.result)?.text).toBe("Thanks.");
});
