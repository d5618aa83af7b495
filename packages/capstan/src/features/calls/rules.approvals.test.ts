import { describe, expect, it } from "vitest";
import { type AgentDefinition, defineAgent, indexAgents } from "../../kernel/agent.ts";
import { defineTool } from "../../kernel/tool.ts";
import { decide } from "../../runtime/decide.ts";
import { fold } from "../../runtime/facts.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { collect } from "../../testing/collect.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";

const input = { type: "object" } as const;
const paid: unknown[] = [];
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input,
  needsApproval: ({ to }) => (to === "me" ? false : `It pays ${to}.`),
  execute: ({ to }) => `Paid ${to}.`,
});
const look = defineTool({ name: "look", description: "Looks.", input, execute: () => "Seen." });

const calls = [
  { id: "c1", name: "pay", input: { to: "Ada" } },
  { id: "c2", name: "look" },
  { id: "c3", name: "pay", input: { to: "Bob" } },
  { id: "c4", name: "pay", input: { to: "me" } },
];

function start(policy: AgentDefinition["policy"] = {}) {
  const model = scriptedModel([{ calls }, { text: "Done." }]);
  const agent = defineAgent({ name: "helper", model, tools: [pay, look], policy });
  return { agent, model, running: run(agent, "Pay them.", { store: memory(), session: "s", runId: "r" }) };
}

describe("approvals under ask", () => {
  it("are requested all at once, with reason and input, while the other calls run", async () => {
    const { running } = start();
    const { facts, result } = await collect(running);
    expect(facts.filter((fact) => fact.type === "approval_required")).toMatchObject([
      { callId: "c1", name: "pay", input: { to: "Ada" }, reason: "It pays Ada.", digest: expect.any(String) },
      { callId: "c3", name: "pay", input: { to: "Bob" }, reason: "It pays Bob." },
    ]);
    expect(facts.flatMap((fact) => (fact.type === "tool_call_result" ? [fact.id] : []))).toEqual([
      "c2",
      "c4",
    ]);
    expect(result).toMatchObject({ status: "waiting", pending: [{ callId: "c1" }, { callId: "c3" }] });
  });

  it("show what the call would do, as the tool computes it: in the fact and in the pending call", async () => {
    const ui = { kind: "diff", props: { path: "a", diff: "-1\n+2\n" } };
    const change = defineTool({
      ...{ name: "change", description: "Changes.", input, execute: () => "Changed." },
      needsApproval: async () => ({ reason: "It changes a.", ui }),
    });
    const model = scriptedModel([{ calls: [{ id: "c1", name: "change", input: {} }] }, { text: "Done." }]);
    const agent = defineAgent({ name: "helper", model, tools: [change] });
    const { facts, result } = await collect(run(agent, "Go.", { store: memory() }));
    expect(facts.find(({ type }) => type === "approval_required")).toMatchObject({ ui });
    expect(result.pending).toMatchObject([{ reason: "It changes a.", ui }]);
  });

  it("are requested once, however often `decide` runs", async () => {
    const { agent, running } = start();
    const { facts } = await collect(running);
    const decision = decide(indexAgents(agent), fold("s", facts));
    expect(decision).toEqual({ type: "stop", reason: "waiting" });
  });

  it("run the call when approved, and give the model the reason when denied", async () => {
    const { model, running } = start();
    await running;
    running.approve("c1");
    expect(await running.deny("c3", "Bob is not paid today.")).toMatchObject({ status: "done" });
    expect(model.requests[1]?.history.slice(-4)).toMatchObject([
      { callId: "c1", status: "ok", content: "Paid Ada." },
      { callId: "c2", status: "ok" },
      {
        callId: "c3",
        status: "denied",
        content: "The call was denied: Bob is not paid today.",
        error: { code: "tool_denied" },
      },
      { callId: "c4", status: "ok", content: "Paid me." },
    ]);
  });

  it("say that the user declined when no reason was given", async () => {
    const { running } = start();
    await running;
    running.deny("c1");
    const { history } = await running.approve("c3");
    expect(history.find((entry) => entry.type === "result" && entry.callId === "c1")).toMatchObject({
      content: "The call was denied: the user declined.",
    });
  });
});

describe("approvals without a user", () => {
  it("are granted automatically under allow", async () => {
    const { facts, result } = await collect(start({ approvals: "allow" }).running);
    expect(facts.some((fact) => fact.type === "approval_required")).toBe(false);
    expect(result.toolCalls.map(({ result }) => result)).toEqual([
      "Paid Ada.",
      "Seen.",
      "Paid Bob.",
      "Paid me.",
    ]);
  });

  it("are denied automatically under deny, and calls without approval still run", async () => {
    const { facts, result } = await collect(start({ approvals: "deny" }).running);
    expect(facts.some((fact) => fact.type === "approval_required")).toBe(false);
    expect(result.toolCalls.map(({ status, result }) => [status, result])).toEqual([
      ["denied", "The call was denied: this run does not allow calls that need approval."],
      ["ok", "Seen."],
      ["denied", "The call was denied: this run does not allow calls that need approval."],
      ["ok", "Paid me."],
    ]);
  });
});

describe("a call that could not run", () => {
  it("is reported to the model instead of the user", async () => {
    const strict = defineTool({
      name: "pay",
      description: "Pays.",
      input: { type: "object", required: ["to"], properties: { to: { type: "string" } } },
      needsApproval: true,
      execute: ({ to }) => paid.push(to),
    });
    const model = scriptedModel([{ calls: [{ name: "pay" }] }, { text: "Whom?" }]);
    const agent = defineAgent({ name: "helper", model, tools: [strict] });
    const { facts, result } = await collect(run(agent, "Pay.", { store: memory() }));
    expect(facts.some((fact) => fact.type === "approval_required")).toBe(false);
    expect(result).toMatchObject({ status: "done", toolCalls: [{ status: "error" }] });
    expect(paid).toEqual([]);
  });
});
