import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Agent, defineAgent, indexAgents } from "../agent.ts";
import type { Json } from "../json.ts";
import { resume, run } from "../run/run.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { defineTool, type Tool } from "../tool.ts";
import type { AgentData } from "./agent-data.ts";
import { type StoredAgentsOptions, storedAgents } from "./stored-agents.ts";

const tool = (name: string, description = name): Tool =>
  defineTool({ name, description, input: {}, effects: "none", execute: () => name });
const model = scriptedModel(() => ({ text: "Done." }));
const assistant = defineAgent({ name: "assistant", model });
const data = (name: string, more: Partial<AgentData> = {}): AgentData => ({ format: 1, name, ...more });

function setup(options: Partial<StoredAgentsOptions> = {}) {
  const store = memory();
  const tools = [tool("search"), tool("send")];
  const agents = storedAgents({ store, coded: [assistant], tools, models: [model], ...options });
  return { store, agents };
}

const handoffsOf = (agent: Agent | undefined): readonly Agent[] => agent?.handoffs?.() ?? [];

describe("stored agents", () => {
  it("are listed beside the coded ones, marked, and can be told apart (S3-54)", async () => {
    const { agents } = setup();
    await agents.save(data("research", { description: "Finds things out." }), 0);
    await agents.importAgent(JSON.stringify(data("people")));
    expect(await agents.list()).toMatchObject([
      { name: "assistant", source: "coded", agent: assistant },
      { name: "people", source: "imported", version: 1 },
      { name: "research", source: "user", version: 1, data: { description: "Finds things out." } },
    ]);
    expect(await agents.get("assistant")).toMatchObject({ source: "coded" });
    expect(await agents.get("research")).toMatchObject({ source: "user", version: 1 });
    expect(await agents.get("nobody")).toBeUndefined();
    expect(await agents.get("__proto__")).toBeUndefined();
  });

  it("run with their prompt as constraints, only if there is one, and with the tools they name (S3-09)", async () => {
    const asked = scriptedModel(() => ({ text: "Done." }));
    const { store, agents } = setup({ models: [asked] });
    const prompt = "Never guess.\nCite the page.";
    const described = { description: "You find things out.", tools: ["search"] };
    await agents.save(data("with", { ...described, prompt }), 0);
    await agents.save(data("without", { ...described, prompt: " \n" }), 0);
    for (const name of ["with", "without"]) {
      const result = await run(await agents.agent(name), "Go.", { store, session: name });
      expect(result.status).toBe("done");
      expect(new Set((await store.read(name)).map(({ agent }) => agent))).toEqual(new Set([name]));
    }
    const [first, second] = asked.requests;
    expect(first?.instructions).toContain('You are "with". You find things out.');
    expect(first?.instructions).toContain(`Constraints:\n${prompt}`);
    expect(second?.instructions).not.toContain("Constraints");
    expect(first?.tools.map(({ name }) => name)).toEqual(["search"]);
  });

  it("have versions: the current one is used unless another is named (F78)", async () => {
    const { agents } = setup();
    const first = await agents.save(data("a", { tools: ["search"] }), 0);
    const second = await agents.save(data("a", { tools: ["send"] }), first.version);
    expect([first.version, second.version]).toEqual([1, 2]);
    const toolsOf = async (version?: number) => [...(await agents.agent("a", version)).tools.keys()];
    expect(await toolsOf()).toEqual(["send"]);
    expect(await toolsOf(1)).toEqual(["search"]);
    expect(await agents.get("a", 1)).toMatchObject({ version: 1, data: { tools: ["search"] } });
    await expect(agents.agent("a", 3)).rejects.toMatchObject({
      code: "unknown_agent",
      message: 'The agent "a" has no version 3.',
    });
    await expect(agents.agent("assistant", 1)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("of two who save the same version one wins, and the other is told (F74)", async () => {
    const { store, agents } = setup();
    for (const expected of [0, 1, 2]) {
      const race = ["x", "y"].map((prompt) => agents.save(data("a", { prompt }), expected));
      const outcomes = await Promise.allSettled(race);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const lost = outcomes.find((outcome) => outcome.status === "rejected");
      expect(lost?.reason).toMatchObject({ code: "position_conflict" });
    }
    expect(await store.listRecordVersions("agent", "a")).toHaveLength(3);
  });

  it("cannot take the name of a coded one, nor change or remove it", async () => {
    const { agents } = setup();
    const taken = { code: "invalid_input", message: expect.stringContaining("is the name of a coded agent") };
    await expect(agents.save(data("assistant"), 0)).rejects.toMatchObject(taken);
    await expect(agents.importAgent(JSON.stringify(data("assistant")))).rejects.toMatchObject(taken);
    await expect(agents.remove("assistant", 0)).rejects.toMatchObject({ code: "invalid_input" });
    expect(await agents.agent("assistant")).toBe(assistant);
  });

  it("are removed with all versions; not while another hands off to them", async () => {
    const { agents } = setup();
    await agents.save(data("people"), 0);
    await agents.save(data("research", { handoffs: ["people"] }), 0);
    await expect(agents.remove("people", 1)).rejects.toMatchObject({
      code: "invalid_input",
      message: 'The agent "people" cannot be removed: "research" hands off to it. Change that one first.',
    });
    await expect(agents.remove("research", 2)).rejects.toMatchObject({ code: "position_conflict" });
    await agents.remove("research", 1);
    await agents.remove("people", 1);
    await expect(agents.remove("people", 1)).rejects.toMatchObject({ code: "unknown_agent" });
    await expect(agents.agent("poeple")).rejects.toThrow('There is no stored agent named "poeple".');
    expect(await agents.list()).toHaveLength(1);
    const anew = await agents.save(data("people"), 0);
    expect(anew.version).toBeGreaterThan(1);
  });

  it("stay imported when somebody changes them", async () => {
    const { agents } = setup();
    await agents.importAgent(JSON.stringify(data("a", { prompt: "old" })));
    expect(await agents.save(data("a", { prompt: "new" }), 1)).toMatchObject({
      source: "imported",
      version: 2,
    });
  });

  it("from a file are checked like any other: no file does more than its data (A105)", async () => {
    const { store, agents } = setup();
    const refused = { code: "invalid_input" };
    const files = [
      "",
      "{",
      "null",
      "[]",
      `"${"x".repeat(1_000_001)}"`,
      JSON.stringify({ ...data("a"), source: "user" }),
      JSON.stringify(data("a", { policy: { gate: "off" } })),
      JSON.stringify(data("a", { policy: { approvals: "allow" } })),
      JSON.stringify(data("a", { tools: ["delete_all"] })),
      JSON.stringify({ ...data("a"), execute: "() => 1" }),
      JSON.stringify({ ...data("a"), format: "1" }),
    ];
    for (const file of files) await expect(agents.importAgent(file)).rejects.toMatchObject(refused);
    await expect(agents.importAgent(JSON.stringify(data("a")), 1)).rejects.toMatchObject({
      code: "position_conflict",
    });
    expect(await store.listRecords("agent")).toEqual([]);
  });

  it("are data and never code: a function is refused, not dropped", async () => {
    const { agents } = setup();
    for (const odd of [{ prompt: () => "x" }, { tools: [tool("search")] }, { policy: { maxTurns: () => 3 } }])
      await expect(agents.save({ ...data("a"), ...odd } as unknown as AgentData, 0)).rejects.toMatchObject({
        code: "invalid_input",
      });
  });

  it("throw nothing but a named error, whatever JSON is saved or imported", async () => {
    const { agents } = setup();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string(), async (value, text) => {
        const invalid = { name: "AgentError", code: "invalid_input" };
        await expect(agents.save(value as unknown as AgentData, 0)).rejects.toMatchObject(invalid);
        await expect(agents.importAgent(JSON.stringify(value))).rejects.toMatchObject(invalid);
        await expect(agents.importAgent(text)).rejects.toMatchObject(invalid);
      }),
    );
  });
});

describe("handoffs of stored agents", () => {
  it("are found by name, coded or stored, in circles too (S3-27)", async () => {
    const { agents } = setup();
    await agents.save(data("a"), 0);
    await agents.save(data("b", { handoffs: ["a", "assistant"] }), 0);
    await agents.save(data("c", { handoffs: ["b"] }), 0);
    await agents.save(data("a", { handoffs: ["c"] }), 1);
    const a = await agents.agent("a");
    const [c] = handoffsOf(a);
    const [b] = handoffsOf(c);
    expect([c?.name, b?.name]).toEqual(["c", "b"]);
    expect(handoffsOf(b)).toEqual([a, assistant]);
    expect(handoffsOf(b)[0]).toBe(a);
    expect([...indexAgents(a).keys()]).toEqual(["a", "c", "b", "assistant"]);
    expect(handoffsOf(await agents.agent("assistant"))).toEqual([]);
  });

  it("to nobody are refused when they are saved, and named when somebody is gone since (S3-29)", async () => {
    const { store, agents } = setup();
    await expect(agents.save(data("a", { handoffs: ["nobody"] }), 0)).rejects.toMatchObject({
      code: "invalid_input",
      message: 'The agent "a" is not valid: handoffs[0]: there is no agent named "nobody" here.',
    });
    await agents.save(data("b"), 0);
    await agents.save(data("a", { handoffs: ["b"] }), 0);
    await store.removeRecord("agent", "b", 1);
    await expect(agents.agent("a")).rejects.toThrow('The agent "a" is not valid: handoffs[0]');
    expect(await agents.list()).toMatchObject([
      {},
      { name: "a", problem: expect.stringContaining("handoffs[0]") },
    ]);
  });
});

describe("the rights of stored agents", () => {
  it("end at the limits, also when those were tightened after it was stored (A104, A105)", async () => {
    const store = memory();
    const loose: StoredAgentsOptions = {
      store,
      models: [model],
      policyLimits: { gate: "off", maxTurns: 50 },
    };
    await storedAgents(loose).save(data("a", { policy: { gate: "off", maxTurns: 50 } }), 0);
    expect((await storedAgents(loose).agent("a")).policy).toMatchObject({ gate: "off", maxTurns: 50 });
    const tight = storedAgents({ ...loose, policyLimits: { maxTurns: 5, budget: { tokens: 100 } } });
    expect((await tight.agent("a")).policy).toEqual({
      gate: "default",
      maxTurns: 5,
      budget: { tokens: 100 },
    });
    const [a] = await tight.list();
    expect(a).not.toHaveProperty("problem");
    await expect(tight.save(data("a", { policy: { gate: "off" } }), 1)).rejects.toThrow(
      "policy.gate cannot be",
    );
    await tight.save(data("b"), 0);
    expect((await tight.agent("b")).policy).toEqual({ maxTurns: 5, budget: { tokens: 100 } });
    const result = await run(await tight.agent("b"), "Go.", { store, session: "s" });
    const [start] = await store.read(result.sessionId);
    expect(start).toMatchObject({ policy: { maxTurns: 5, budget: { tokens: 100 }, gate: "default" } });
  });

  it("end at the registry: a tool that is gone is named, and harms no other agent (F78)", async () => {
    const { store, agents } = setup();
    await agents.save(data("a", { tools: ["search"] }), 0);
    await agents.save(data("b"), 0);
    const later = storedAgents({ store, models: [model], tools: { toString: tool("toString") } });
    expect(await later.list()).toMatchObject([
      { name: "a", problem: 'tools[0]: there is no tool named "search" here.' },
      { name: "b" },
    ]);
    await expect(later.agent("a")).rejects.toMatchObject({ code: "invalid_input" });
    expect((await later.agent("b")).name).toBe("b");
  });

  it("records that are no agents are listed with their problem, and are not run", async () => {
    const { store, agents } = setup();
    for (const [index, body] of [null, "x", { data: 7 }, { source: "user" }].entries())
      await store.putRecord({ kind: "agent", id: `${index}`, body: body as Json }, 0);
    for (const listed of (await agents.list()).slice(1)) {
      expect(listed).toMatchObject({ problem: expect.stringContaining("must be an object") });
      await expect(agents.agent(listed.name)).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  it("a tool is made for the sources of its agent", async () => {
    const search = ({ sources = [] }: AgentData) => tool("search", `Searches ${sources.join(" and ")}`);
    const { agents } = setup({ tools: { search }, sources: ["wiki", "mail"] });
    await agents.save(data("a", { tools: ["search"], sources: ["wiki"] }), 0);
    expect((await agents.agent("a")).specs).toMatchObject([{ name: "search", description: "Searches wiki" }]);
    await expect(agents.save(data("b", { sources: ["payroll"] }), 0)).rejects.toThrow("no source named");
  });

  it("what makes no sense in code is refused there", async () => {
    const store = memory();
    const refused = (options: object) => expect(() => storedAgents({ store, ...options }));
    refused({ tools: { find: tool("search") } }).toThrow('"find" of the registry is named "search"');
    refused({ tools: [tool("search"), tool("search")] }).toThrow("Two tools of the registry");
    refused({ coded: [assistant, assistant] }).toThrow("Two coded agents");
    refused({ models: [] }).toThrow("need a model");
    refused({ policyLimits: { gate: "loose" } }).toThrow("policy.gate cannot be");
  });
});

describe("a run of a stored agent", () => {
  it("goes on with the version that is there, and an approval for a tool that changed does not count (F78)", async () => {
    const sent: string[] = [];
    const send = (description: string) =>
      defineTool({
        name: "send",
        description,
        input: { type: "object", properties: {} },
        needsApproval: true,
        execute: () => void sent.push(description),
      });
    const asking = scriptedModel((_, index) =>
      index === 0 ? { calls: [{ name: "send" }] } : { text: "Done." },
    );
    const store = memory();
    const before = storedAgents({ store, models: [asking], tools: [send("Sends a mail.")] });
    await before.save(data("mailer", { tools: ["send"] }), 0);
    const waiting = await run(await before.agent("mailer"), "Send it.", { store });
    expect(waiting.status).toBe("waiting");
    const after = storedAgents({ store, models: [asking], tools: [send("Sends a mail to everybody.")] });
    await after.save(data("mailer", { tools: ["send"], prompt: "Be quick." }), 1);
    const resumed = resume(await after.agent("mailer"), { store, runId: waiting.runId });
    resumed.approve(waiting.pending[0]?.callId ?? "");
    const result = await resumed;
    expect(sent).toEqual([]);
    const outcome = (await store.read(result.sessionId)).find(({ type }) => type === "tool_call_result");
    expect(outcome).toMatchObject({ name: "send", status: "denied", error: { code: "approval_mismatch" } });
    expect(asking.requests.at(-1)?.instructions).toContain("Be quick.");
  });
});
