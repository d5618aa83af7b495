import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AgentError } from "../base/errors.ts";
import { type Agent, defineAgent } from "../kernel/agent.ts";
import { factVersion } from "../kernel/event.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import type { RunInfo, Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, type LocalOptions, local } from "./local.ts";

const leaseMs = 300;
let clock: FakeClock;
let store: Store;
const engines: LocalEngine[] = [];
beforeEach(() => {
  clock = fakeClock();
  store = memory({ clock });
});
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

function openEngine(agents: LocalOptions["agents"], openStore = store): LocalEngine {
  const engine = local({ store: openStore, agents, leaseMs, clock });
  engines.push(engine);
  return engine;
}

const sign: Tool = defineTool({
  name: "sign",
  description: "Signs",
  input: {},
  effects: "send",
  needsApproval: true,
  execute: () => "Signed.",
});
const measure: Tool = defineTool({ name: "measure", description: "The client measures.", input: {} });

/** Calls the tool once, then answers. */
function createAgent(name: string, tool?: Tool): Agent {
  const model = scriptedModel(({ history }) => {
    const isCalled = history.some((entry) => entry.type === "result" && entry.name === tool?.name);
    return tool && !isCalled ? { calls: [{ name: tool.name }] } : { text: "All done." };
  });
  return defineAgent({ name, model, tools: tool ? [tool] : [] });
}

/** Leaves a run "r" that waits for its tool. */
async function leaveWaitingRun(agent: Agent): Promise<string> {
  const engine = openEngine(agent);
  const { pending } = await engine.run(agent, "Go.", { runId: "r", session: "s" });
  await engine.close();
  return pending[0]?.callId ?? "";
}

describe("a run whose agent no longer exists", () => {
  it("is listed as stuck, and sending to it returns the reason instead of storing the message", async () => {
    const callId = await leaveWaitingRun(createAgent("old", sign));
    const engine = openEngine(createAgent("new"));
    const reason =
      /^The agent "old" is not configured\. Add it to the agents of this process, or cancel the run\.$/;
    expect(await engine.listStuck()).toEqual([
      {
        ...{ runId: "r", sessionId: "s", agent: "old", state: "waiting" },
        startedAt: expect.any(Number),
        updatedAt: expect.any(Number),
        reason: { code: "unknown_agent", message: expect.stringMatching(reason), retryable: false },
      },
    ]);
    const message = { type: "approve", callId, key: "k" } as const;
    const refusal = {
      code: "run_stuck",
      retryable: false,
      message: expect.stringContaining('Run "r" cannot continue. The agent "old" is not configured.'),
    };
    await expect(engine.send("r", message)).rejects.toMatchObject(refusal);
    await expect(engine.checkMessage("r", message)).rejects.toMatchObject(refusal);
    await expect(engine.open("r").approve(callId)).rejects.toMatchObject(refusal);
    expect(await store.listMessages("r")).toEqual([]);
  });

  it("can be cancelled, which frees its session", async () => {
    await leaveWaitingRun(createAgent("old", sign));
    const agent = createAgent("new");
    const engine = openEngine(agent);
    const policy = { onBusy: "reject" } as const;
    const refused = engine.run(agent, "Hi.", { session: "s", policy });
    await expect(refused).rejects.toMatchObject({ code: "session_busy" });
    const { isNew } = await engine.checkMessage("r", { type: "cancel", key: "k" });
    expect(isNew).toBe(true);
    expect(await engine.open("r").cancel("No longer needed.")).toMatchObject({ status: "cancelled" });
    expect(await engine.listStuck()).toEqual([]);
    expect(await engine.run(agent, "Hi.", { session: "s" })).toMatchObject({ status: "done" });
  });

  it("continues once its agent is back", async () => {
    const callId = await leaveWaitingRun(createAgent("old", sign));
    expect(await openEngine(createAgent("new")).listStuck()).toHaveLength(1);
    const engine = openEngine(createAgent("old", sign));
    expect(await engine.listStuck()).toEqual([]);
    expect(await engine.open("r").approve(callId)).toMatchObject({ status: "done", text: "All done." });
  });

  it("is neither stuck nor refused while another process executes it", async () => {
    const started = Promise.withResolvers<void>();
    const wait = defineTool({
      name: "wait",
      description: "Waits",
      input: {},
      execute: (_, { signal }) => {
        started.resolve();
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
      },
    });
    const agent = createAgent("old", wait);
    const running = openEngine(agent).run(agent, "Go.", { runId: "r", session: "s" });
    await started.promise;
    const engine = openEngine(createAgent("new"));
    expect(await engine.listStuck()).toEqual([]);
    await engine.send("r", { type: "steer", text: "Hurry.", key: "k" });
    await engine.send("r", { type: "cancel", key: "c" });
    expect(await running).toMatchObject({ status: "cancelled" });
  });

  it("is not tried again at every poll if the agent is missing after a handoff (F73)", async () => {
    const expert = createAgent("expert", sign);
    const model = scriptedModel([{ calls: [{ name: "handoff", input: { agent: "expert" } }] }]);
    const guide = defineAgent({ name: "guide", model, handoffs: [expert] });
    const first = openEngine(guide);
    await first.run(guide, "Go.", { runId: "r", session: "s" });
    await first.close();
    await store.sendMessage("r", { type: "steer", text: "Hello?", key: "k" });
    const lease = vi.fn(store.lease);
    const later = openEngine(defineAgent({ name: "guide", model }), { ...store, lease });
    await vi.waitFor(() => expect(lease).toHaveBeenCalledTimes(1), 30_000);
    for (let poll = 0; poll < 20; poll += 1) await clock.advance(leaseMs);
    expect(lease).toHaveBeenCalledTimes(1);
    expect(await later.listStuck()).toMatchObject([{ runId: "r", reason: { code: "unknown_agent" } }]);
    await clock.advance(60_000);
    expect(lease).toHaveBeenCalledTimes(2);
  });
});

describe("a run that waits for a tool that no longer exists", () => {
  it.each([
    sign,
    measure,
  ])("is listed as stuck ($name), and refuses all messages but a denial", async (tool) => {
    const callId = await leaveWaitingRun(createAgent("a", tool));
    const engine = openEngine(createAgent("a"));
    expect(await engine.listStuck()).toMatchObject([
      {
        runId: "r",
        reason: {
          code: "unknown_tool",
          message: `The tool "${tool.name}", which the run waits for, is not configured. Add it to the agent "a", or deny the call.`,
        },
      },
    ]);
    for (const body of [
      { type: "approve", callId },
      { type: "result", callId, value: 1 },
      { type: "steer", text: "x" },
    ] as const)
      await expect(engine.checkMessage("r", { ...body, key: "k" })).rejects.toMatchObject({
        code: "run_stuck",
        message: expect.stringContaining(`The tool "${tool.name}"`),
      });
    if (tool === measure) return;
    await engine.checkMessage("r", { type: "deny", callId, key: "k" });
    expect(await engine.open("r").deny(callId)).toMatchObject({ status: "done" });
  });
});

describe("a run whose agent cannot be built", () => {
  it("is listed as stuck with the reason, such as a model that no longer exists (F94)", async () => {
    const callId = await leaveWaitingRun(createAgent("old", sign));
    const message = 'Unknown model "gone". Available models: "here".';
    const engine = openEngine(() => {
      throw new AgentError("invalid_input", message);
    });
    expect(await engine.listStuck()).toMatchObject([
      { runId: "r", reason: { code: "invalid_input", message } },
    ]);
    const refused = engine.send("r", { type: "approve", callId, key: "k" });
    await expect(refused).rejects.toMatchObject({
      code: "run_stuck",
      message: expect.stringContaining(message),
    });
    expect(await engine.open("r").cancel()).toMatchObject({ status: "cancelled" });
  });

  it("is not called stuck when the store of the agents fails", async () => {
    await leaveWaitingRun(createAgent("old", sign));
    const engine = openEngine(() => Promise.reject(new AgentError("store_busy", "Locked.")));
    await expect(engine.listStuck()).rejects.toMatchObject({ code: "store_busy" });
  });
});

describe("a run with facts of a newer version", () => {
  it("is listed as stuck, refuses messages, and is left alone: no lease, nothing stored (F78, F93)", async () => {
    const agent = createAgent("a", sign);
    const callId = await leaveWaitingRun(agent);
    await store.sendMessage("r", { type: "steer", text: "Hello?", key: "k" });
    const withVersion = (info: RunInfo) => ({ ...info, newerVersion: factVersion + 1 });
    const lease = vi.fn(store.lease);
    const newer: Store = {
      ...store,
      lease,
      listOrphans: async (options) => (await store.listOrphans(options)).map(withVersion),
      async findRun(runId) {
        const run = await store.findRun(runId);
        return run && { ...run, newerVersion: factVersion + 1 };
      },
    };
    const engine = openEngine(agent, newer);
    for (let poll = 0; poll < 5; poll += 1) await clock.advance(leaseMs);
    expect(await engine.recover()).toEqual([]);
    expect(lease).not.toHaveBeenCalled();
    expect(await engine.listStuck()).toMatchObject([{ runId: "r", reason: { code: "newer_version" } }]);
    for (const body of [{ type: "approve", callId }, { type: "cancel" }] as const) {
      const message = { ...body, key: "k2" };
      await expect(engine.send("r", message)).rejects.toMatchObject({ code: "newer_version" });
      await expect(engine.checkMessage("r", message)).rejects.toMatchObject({ code: "newer_version" });
    }
    expect(await store.listMessages("r")).toHaveLength(1);
  });
});
