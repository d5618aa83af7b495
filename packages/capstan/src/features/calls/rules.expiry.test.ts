import { afterEach, describe, expect, it } from "vitest";
import { type LocalEngine, local } from "../../engines/local.ts";
import { type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import { resume, run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { agentTool } from "../nested/agent-tool.ts";

const input = { type: "object" } as const;
const dayMs = 86_400_000;
const expired =
  "The call was denied: nobody decided before the request expired. Call the tool again if it is still needed.";

const opened: LocalEngine[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engine) => engine.close()));
});

function createPayTool(paid: string[]): Tool {
  return defineTool({
    name: "pay",
    description: "Pays.",
    input,
    needsApproval: true,
    execute: ({ to }) => `Paid ${paid.push(String(to))}.`,
  });
}

/** An agent that pays Ada and Bob at once, then repeats the last result. */
function createSetting(policy: AgentDefinition["policy"] = {}) {
  const paid: string[] = [];
  const model = scriptedModel(({ history }) => {
    const result = history.findLast((entry) => entry.type === "result");
    if (result) return { text: String(result.content) };
    return {
      calls: [
        { id: "ada", name: "pay", input: { to: "Ada" } },
        { id: "bob", name: "pay", input: { to: "Bob" } },
      ],
    };
  });
  const agent = defineAgent({ name: "helper", model, tools: [createPayTool(paid)], policy });
  return { agent, paid, model, clock: fakeClock(), store: memory() };
}

const at = { session: "s", runId: "r" };
/** Lets timers run, and a day pass: the machine sleeps over night. */
const passDay = (clock: FakeClock) => clock.step(dayMs);
const lateError = expect.objectContaining({ code: "approval_expired" });

describe("a request for approval", () => {
  it("says until when it can be approved: a day by default", async () => {
    const { agent, store, clock } = createSetting();
    const { pending } = await run(agent, "Pay.", { ...at, store, clock });
    expect(pending.map(({ expiresAt }) => expiresAt)).toEqual([clock.now() + dayMs, clock.now() + dayMs]);
    const facts = (await store.read("s")).filter((fact) => fact.type === "approval_required");
    expect(facts.map(({ expiresAt }) => expiresAt)).toEqual([clock.now() + dayMs, clock.now() + dayMs]);
  });

  it("does not expire if the policy says so", async () => {
    const { agent, paid, store, clock } = createSetting({
      approvalExpiresMs: "unlimited",
      maxConcurrency: 1,
    });
    const running = run(agent, "Pay.", { ...at, store, clock });
    expect((await running).pending[0]).not.toHaveProperty("expiresAt");
    clock.step(400 * dayMs);
    running.approve("ada");
    expect(await running.approve("bob")).toMatchObject({ status: "done" });
    expect(paid).toEqual(["Ada", "Bob"]);
  });

  it("can be approved in the last millisecond", async () => {
    const { agent, paid, store, clock } = createSetting({ approvalExpiresMs: 1000, maxConcurrency: 1 });
    const running = run(agent, "Pay.", { ...at, store, clock });
    await running;
    clock.step(999);
    running.approve("ada");
    expect(await running.approve("bob")).toMatchObject({ status: "done" });
    expect(paid).toEqual(["Ada", "Bob"]);
  });
});

describe("an approval that comes too late", () => {
  it("is a named error, makes no call, and the run continues with the call denied (F57)", async () => {
    const { agent, paid, store, clock } = createSetting();
    const running = run(agent, "Pay.", { ...at, store, clock });
    await running;
    passDay(clock);
    expect(() => running.approve("ada")).toThrow(lateError);
    expect(() => running.approve("ada")).toThrow(
      /expired at 2026-01-02T00:00:00.000Z. The call was not made/,
    );
    const { status, text } = await running;
    expect({ status, text, paid }).toEqual({ status: "done", text: expired, paid: [] });
  });

  it("is a named error for a run that another process has started", async () => {
    const { agent, paid, store, clock } = createSetting();
    await run(agent, "Pay.", { ...at, store, clock });
    passDay(clock);
    await expect(resume(agent, { store, runId: "r" }, { clock }).approve("ada")).rejects.toThrow(lateError);
    expect(await resume(agent, { store, runId: "r" }, { clock })).toMatchObject({
      status: "done",
      text: expired,
    });
    expect(paid).toEqual([]);
  });

  it("is a named error through an engine, and the run continues", async () => {
    const { agent, paid, store, clock } = createSetting();
    const engine = local({ store, agents: agent, clock, getResumeOptions: () => ({ clock }) });
    opened.push(engine);
    await engine.run(agent, "Pay.", { ...at, clock });
    passDay(clock);
    const approve = { type: "approve", callId: "ada", key: "k" } as const;
    await expect(engine.checkMessage("r", approve)).rejects.toThrow(lateError);
    await expect(engine.open("r").approve("ada")).rejects.toThrow(lateError);
    await expect.poll(async () => (await engine.getResult("r")).status).toBe("done");
    expect(await engine.getResult("r")).toMatchObject({ text: expired });
    expect(paid).toEqual([]);
  });

  it("stays too late when the clock is set back (A120)", async () => {
    const { agent, paid, store, clock } = createSetting({ approvalExpiresMs: 1000 });
    const running = run(agent, "Pay.", { ...at, store, clock });
    await running;
    clock.step(1000);
    expect(() => running.approve("ada")).toThrow(lateError);
    clock.step(-1000);
    await running.deny("bob");
    expect(() => running.approve("ada")).toThrow(expect.objectContaining({ code: "approval_conflict" }));
    expect(paid).toEqual([]);
  });
});

describe("a request that expired", () => {
  it("does not hold up the run when the user sends a message", async () => {
    const { agent, paid, store, clock, model } = createSetting();
    const running = run(agent, "Pay.", { ...at, store, clock });
    await running;
    passDay(clock);
    expect(await running.steer("Forget it.")).toMatchObject({ status: "done" });
    expect(model.requests[1]?.history.slice(-3)).toMatchObject([
      { callId: "ada", status: "denied", content: expired },
      { callId: "bob", status: "denied", content: expired },
      { type: "user", content: "Forget it." },
    ]);
    expect(paid).toEqual([]);
  });

  it("can still be denied with a reason", async () => {
    const { agent, store, clock } = createSetting();
    const running = run(agent, "Pay.", { ...at, store, clock });
    await running;
    passDay(clock);
    const { history } = await running.deny("ada", "Too expensive.");
    expect(history).toContainEqual(
      expect.objectContaining({ callId: "ada", content: "The call was denied: Too expensive." }),
    );
  });

  it("of a nested run lets both runs continue", async () => {
    const { paid, store, clock } = createSetting();
    const helperModel = scriptedModel(({ history }) =>
      history.some(({ type }) => type === "result")
        ? { text: "Not paid." }
        : { calls: [{ id: "p", name: "pay", input: { to: "Ada" } }] },
    );
    const helper = defineAgent({
      ...{ name: "helper", model: helperModel, tools: [createPayTool(paid)] },
      policy: { approvalExpiresMs: "unlimited" },
    });
    const main = defineAgent({
      name: "main",
      model: scriptedModel([
        { calls: [{ id: "m", name: "helper", input: { prompt: "Pay." } }] },
        { text: "Well." },
      ]),
      tools: [agentTool(helper)],
    });
    const running = run(main, "Pay.", { ...at, store, clock, policy: { approvalExpiresMs: 1000 } });
    // A sub-agent cannot extend the time of its caller.
    expect((await running).pending).toMatchObject([{ callId: "m.p", expiresAt: clock.now() + 1000 }]);
    clock.step(1000);
    const { status, toolCalls } = await running.steer("Go on.");
    expect({ status, paid }).toEqual({ status: "done", paid: [] });
    expect(toolCalls).toMatchObject([{ name: "helper", result: "Not paid." }]);
  });
});

describe("a tool's question", () => {
  it("expires like a request for approval: the tool receives a denial", async () => {
    const clock = fakeClock();
    const ask = defineTool({
      name: "ask",
      description: "Asks.",
      input,
      execute: (_, { answers: [answer] }) =>
        answer ? (answer.approved ? "Yes." : `No: ${answer.reason}`) : { ask: { message: "Really?" } },
    });
    const model = scriptedModel([{ calls: [{ id: "q", name: "ask" }] }, { text: "Done." }]);
    const running = run(defineAgent({ name: "helper", model, tools: [ask] }), "Ask.", { ...at, clock });
    expect((await running).pending).toMatchObject([{ question: {}, expiresAt: clock.now() + dayMs }]);
    passDay(clock);
    expect(() => running.approve("q", true)).toThrow(lateError);
    expect(() => running.approve("q", true)).toThrow('The question of "ask" ("q") expired at');
    expect((await running).toolCalls).toMatchObject([
      { result: "No: nobody decided before the request expired. Call the tool again if it is still needed." },
    ]);
  });
});
