import { defineAgent, defineTool, type Usage } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import type { Caller } from "../access/caller.ts";
import { createQuota } from "../access/quota.ts";
import { createQuotaAdmission } from "../access/quota-admission.ts";
import {
  createEphemeralRuns,
  type EphemeralRuns,
  type EphemeralSegment,
  type SuspendedRunLimits,
} from "./ephemeral-runs.ts";

const quotas = { streams: 10, concurrentRuns: 2 };
const ada: Caller = { user: "ada", scope: "ada", isAdmin: false, quotas };
const eve: Caller = { ...ada, user: "eve", scope: "eve" };

let runs: EphemeralRuns;
let used: Usage[];
afterEach(() => runs.close(Promise.resolve()));

function open(waiting: SuspendedRunLimits = {}): EphemeralRuns {
  used = [];
  const quotaAdmission = createQuotaAdmission({
    store: memory(),
    getResult: () => Promise.reject(new Error("The run is not stored.")),
    report: () => undefined,
  });
  runs = createEphemeralRuns({
    ...{ policy: undefined, quota: createQuota(), quotaAdmission },
    getRunOptions: async () => ({
      hooks: {
        onEvent(event) {
          quotaAdmission.record(event);
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
  expect(await runs.resume(eve, { runId, results })).toBeUndefined();
  expect(await runs.resume(ada, { runId, results: new Map([["other", ""]]) })).toBeUndefined();
  const segment = await runs.resume(ada, { runId, results });
  expect((await segment?.result)?.text).toBe("Thanks.");
  expect(used).toEqual([{ inputTokens: 20, outputTokens: 10 }]);
  expect(await runs.resume(ada, { runId, results })).toBeUndefined();
});

it("the number of waiting runs per user is limited, and the usage of dropped runs is counted", async () => {
  open({ maxPerUser: 2 });
  const first = await startWaiting(ada);
  const other = await startWaiting(eve);
  await startWaiting(ada);
  await startWaiting(ada);
  expect(await runs.resume(ada, { runId: first, results })).toBeUndefined();
  await expect.poll(() => used).toEqual([{ inputTokens: 10, outputTokens: 5 }]);
  expect((await (await runs.resume(eve, { runId: other, results }))?.result)?.text).toBe("Thanks.");
});

it("a run waits for a limited time", async () => {
  open({ timeoutMs: 1 });
  const short = await startWaiting(ada);
  await expect.poll(() => used).toHaveLength(1);
  expect(await runs.resume(ada, { runId: short, results })).toBeUndefined();
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
  await expect(start(ada)).rejects.toMatchObject({ code: "quota_exceeded" });
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
  expect((await (await runs.resume(ada, { runId: resting.runId, results }))?.result)?.text).toBe("Thanks.");
});
