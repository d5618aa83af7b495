import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, local } from "./local.ts";

const leaseMs = 300;
let clock: FakeClock;
let store: Store;
/** Makes calls of the tool return. Without it they take forever. */
let answer: (() => unknown) | undefined;
/** What the model does instead. */
let step: ScriptedStep | undefined;
const processes: { engine: LocalEngine; kill(): void }[] = [];

beforeEach(() => {
  clock = fakeClock();
  store = memory({ clock });
  answer = undefined;
  step = undefined;
});
afterEach(() => {
  for (const { kill } of processes.splice(0)) kill();
});

const tool = defineTool({
  name: "work",
  description: "",
  input: {},
  effects: "none",
  execute: () => answer?.() ?? new Promise(() => undefined),
});
/** Makes as many calls as the user asks for, one per turn. */
const model = scriptedModel(({ history }) => {
  if (step) return step;
  const results = history.filter((entry) => entry.type === "result");
  const [question] = history.filter((entry) => entry.type === "user");
  const calls = Number(question?.content);
  return results.length >= calls
    ? { text: `It says: ${results.at(-1)?.content}` }
    : { calls: [{ name: tool.name, input: {} }] };
});
const agent: Agent = defineAgent({
  name: "worker",
  model,
  tools: [tool],
  policy: { toolTimeoutMs: 3_600_000 },
});

/** An engine that looks like a process to the store. When it is killed, its timers stop and it stores nothing. */
function startProcess(inner: Store = store): { readonly engine: LocalEngine; kill(): void } {
  let isDead = false;
  const dead = () => new Promise<never>(() => undefined);
  const guard = <Method extends (...given: never[]) => Promise<unknown>>(method: Method): Method =>
    ((...given: Parameters<Method>) => (isDead ? dead() : method(...given))) as Method;
  const ownClock: Clock = {
    ...clock,
    after: (ms, fire) => clock.after(ms, () => (isDead ? undefined : fire())),
  };
  const { append, renew, release, lease, listOrphans } = inner;
  const ownStore: Store = {
    ...inner,
    append: guard(append),
    renew: guard(renew),
    release: guard(release),
    lease: guard(lease),
    listOrphans: guard(listOrphans),
  };
  const engine = local({ store: ownStore, agents: agent, leaseMs, clock: ownClock });
  const started = {
    engine,
    kill() {
      isDead = true;
    },
  };
  processes.push(started);
  return started;
}

async function loadFacts(runId: string): Promise<readonly Fact[]> {
  return store.read((await store.findSession(runId)) ?? "");
}

const isRecovery = (fact: Fact) => fact.type === "recovered";

/** Advances the clock until the condition holds. */
async function advanceUntil(check: () => Promise<void>): Promise<void> {
  for (let step = 1; step <= 1000; step++) {
    await clock.advance(leaseMs / 3);
    const isMet = await check().then(
      () => true,
      () => false,
    );
    if (isMet) return;
  }
  await check();
}

/** Starts runs that are in their call, and kills their process. */
async function crashInCall(runIds: readonly string[] = ["run_1"], calls = "1"): Promise<void> {
  const { engine, kill } = startProcess();
  for (const runId of runIds) engine.run(agent, calls, { runId }).then(undefined, () => undefined);
  for (const runId of runIds)
    await expect.poll(async () => (await loadFacts(runId)).at(-1)?.type).toBe("tool_call_start");
  kill();
}

/** Lets a new process take over the run, and kills it when it has. */
async function crashAfterTakeover(runId: string): Promise<void> {
  const { kill } = startProcess();
  const before = (await loadFacts(runId)).filter(isRecovery).length;
  await advanceUntil(async () => {
    const facts = await loadFacts(runId);
    expect(facts.filter(isRecovery).length).toBe(before + 1);
    expect(["tool_call_start", "done"]).toContain(facts.at(-1)?.type);
  });
  kill();
}

describe("a run whose process crashes repeatedly", () => {
  it("is quarantined after three crashes during which it was alone, with the reason (F77)", async () => {
    await crashInCall();
    for (let crash = 1; crash <= 5; crash++) await crashAfterTakeover("run_1");
    const facts = await loadFacts("run_1");
    const recoveries = facts.flatMap((fact) => (fact.type === "recovered" ? [fact.alone ?? false] : []));
    expect(recoveries).toEqual([false, true, true, true, false]);
    const warnings = facts.flatMap((fact) => (fact.type === "warning" ? fact.code : []));
    expect(warnings).toEqual(["resumes_alone"]);
    expect(facts.at(-1)).toMatchObject({
      type: "done",
      status: "failed",
      error: {
        code: "quarantined",
        message: `The run was stopped because its process crashed 3 times while it executed only this run (last call: "work"). Retry the run to release it.`,
      },
    });
    expect(await store.listOrphans()).toEqual([]);
  });

  it("starts with a clean record after it has made progress (F77)", async () => {
    await crashInCall(["run_1"], "2");
    for (let crash = 1; crash <= 3; crash++) await crashAfterTakeover("run_1");
    let answers = 0;
    answer = () => (++answers === 1 ? "Done." : undefined);
    const { kill } = startProcess();
    await advanceUntil(async () => {
      const facts = await loadFacts("run_1");
      expect(facts.filter(({ type }) => type === "tool_call_result")).toHaveLength(1);
      expect(facts.at(-1)?.type).toBe("tool_call_start");
    });
    kill();
    for (let crash = 1; crash <= 3; crash++) await crashAfterTakeover("run_1");
    answer = () => "Done.";
    startProcess();
    await advanceUntil(async () => expect((await loadFacts("run_1")).at(-1)?.type).toBe("done"));
    const facts = await loadFacts("run_1");
    expect(facts.filter((fact) => fact.type === "recovered" && fact.alone)).toHaveLength(6);
    expect(facts.at(-1)).toMatchObject({ status: "done", text: "It says: Done." });
  });

  it("is released by a retry, which repeats no call, and starts with a clean record (F77)", async () => {
    await crashInCall(["run_1"], "2");
    for (let crash = 1; crash <= 5; crash++) await crashAfterTakeover("run_1");
    expect((await loadFacts("run_1")).at(-1)).toMatchObject({ error: { code: "quarantined" } });
    let calls = 0;
    answer = () => {
      calls += 1;
      return "Done.";
    };
    const { engine } = startProcess();
    await engine.send("run_1", { type: "retry", key: "again" });
    await expect.poll(async () => (await loadFacts("run_1")).at(-1)).toMatchObject({ status: "done" });
    const facts = await loadFacts("run_1");
    expect(facts.filter(isRecovery)).toHaveLength(5);
    const results = facts.flatMap((fact) => (fact.type === "tool_call_result" ? fact.status : []));
    expect(results).toEqual(["interrupted", "ok"]);
    expect(calls).toBe(1);
  });

  it("is retried after it failed while it was alone, and nothing but the retry follows its end (F77)", async () => {
    const findTypes = async () => (await loadFacts("run_1")).map(({ type }) => type);
    step = { hang: true };
    const first = startProcess();
    first.engine.run(agent, "0", { runId: "run_1" }).then(undefined, () => undefined);
    await expect.poll(async () => (await findTypes()).at(-1)).toBe("turn_start");
    first.kill();
    const second = startProcess();
    await advanceUntil(async () => expect((await findTypes()).at(-1)).toBe("recovered"));
    second.kill();
    step = { error: "model_auth" };
    const { engine } = startProcess();
    await advanceUntil(async () => expect((await findTypes()).at(-1)).toBe("done"));
    expect((await loadFacts("run_1")).filter(isRecovery)).toMatchObject([{}, { alone: true }]);
    step = undefined;
    await engine.send("run_1", { type: "retry", key: "again" });
    await expect.poll(async () => (await loadFacts("run_1")).at(-1)).toMatchObject({ status: "done" });
    const types = await findTypes();
    expect(types[types.indexOf("done") + 1]).toBe("retried");
  });

  it("shares its process with a new run only once that is recorded, and the crash does not count (F77)", async () => {
    await crashInCall();
    await crashAfterTakeover("run_1");
    const { engine, kill } = startProcess();
    await advanceUntil(async () =>
      expect((await loadFacts("run_1")).findLast(isRecovery)).toMatchObject({ alone: true }),
    );
    engine.run(agent, "1", { runId: "run_2" }).then(undefined, () => undefined);
    await expect.poll(async () => (await loadFacts("run_2")).map(({ type }) => type)).toEqual(["run_start"]);
    expect((await loadFacts("run_1")).at(-1)?.type).toBe("tool_call_start");
    await clock.advance(leaseMs);
    await expect.poll(async () => (await loadFacts("run_2")).at(-1)?.type).toBe("tool_call_start");
    expect((await loadFacts("run_1")).at(-1)?.type).toBe("solo_end");
    kill();
    for (let crash = 1; crash <= 2; crash++) await crashAfterTakeover("run_1");
    answer = () => "Done.";
    startProcess();
    await advanceUntil(async () =>
      expect((await loadFacts("run_1")).at(-1)).toMatchObject({ status: "done" }),
    );
    await advanceUntil(async () =>
      expect((await loadFacts("run_2")).at(-1)).toMatchObject({ status: "done" }),
    );
  });

  it("can be cancelled while it waits to be alone", async () => {
    await crashInCall();
    for (let crash = 1; crash <= 2; crash++) await crashAfterTakeover("run_1");
    const { engine } = startProcess();
    await clock.advance(2 * leaseMs); // the lease expires, and the process takes over the run
    await engine.send("run_1", { type: "cancel", key: "stop" });
    await expect.poll(async () => (await loadFacts("run_1")).at(-1)).toMatchObject({ status: "cancelled" });
    expect((await loadFacts("run_1")).filter(isRecovery)).toHaveLength(2);
  });

  it("is released while it waits to be alone when its process shuts down", async () => {
    await crashInCall();
    for (let crash = 1; crash <= 2; crash++) await crashAfterTakeover("run_1");
    const facts = await loadFacts("run_1");
    const { engine } = startProcess();
    await clock.advance(2 * leaseMs);
    expect(await store.listOrphans()).toEqual([]);
    await engine.close();
    expect((await store.listOrphans()).map(({ runId }) => runId)).toEqual(["run_1"]);
    expect(await loadFacts("run_1")).toEqual(facts);
  });

  it("is no longer alone when its process resumes it after the store has failed", async () => {
    await crashInCall();
    await crashAfterTakeover("run_1");
    let hasFailed = false;
    const failing: Store = {
      ...store,
      append(facts, at) {
        if (hasFailed || !facts.some(({ type }) => type === "tool_call_result"))
          return store.append(facts, at);
        hasFailed = true;
        throw new AgentError("store_busy", "Later.");
      },
    };
    answer = () => "Done.";
    startProcess(failing);
    await advanceUntil(async () => expect((await loadFacts("run_1")).at(-1)?.type).toBe("done"));
    const facts = await loadFacts("run_1");
    const at = facts.findLastIndex(isRecovery);
    expect(facts.slice(at).map(({ type }) => type)).toEqual([
      "recovered",
      "tool_call_start",
      "solo_end",
      "tool_call_start",
      "tool_call_result",
      "turn_end",
      "turn_start",
      "message",
      "turn_end",
      "done",
    ]);
    expect(hasFailed).toBe(true);
  });
});

describe("a process that crashes by itself, again and again", () => {
  it.each([0.5, 2, 5])("%f leases after its start quarantines no run (F77, F90)", async (leases) => {
    const runIds = ["run_1", "run_2", "run_3"];
    await crashInCall(runIds);
    for (let crash = 1; crash <= 15; crash++) {
      const { kill } = startProcess();
      await clock.advance(leases * leaseMs);
      kill();
      await clock.advance(leaseMs);
    }
    answer = () => "Done.";
    startProcess();
    await advanceUntil(async () => {
      for (const runId of runIds) expect((await loadFacts(runId)).at(-1)?.type).toBe("done");
    });
    for (const runId of runIds)
      expect((await loadFacts(runId)).at(-1)).toMatchObject({ status: "done", text: "It says: Done." });
  });
});
