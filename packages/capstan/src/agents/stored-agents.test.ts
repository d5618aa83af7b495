import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { type Agent, defineAgent, indexAgents } from "../kernel/agent.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { resume, run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { AgentData } from "./agent-data.ts";
import { type StoredAgentsOptions, storedAgents } from "./stored-agents.ts";

const createTool = (name: string, description = name): Tool =>
  defineTool({ name, description, input: {}, effects: "none", execute: () => name });
const model = scriptedModel(() => ({ text: "Done." }));
const assistant = defineAgent({ name: "assistant", model });
const createData = (name: string, more: Partial<AgentData> = {}): AgentData => ({ format: 1, name, ...more });

function createAgents(options: Partial<StoredAgentsOptions> = {}) {
  const store = memory();
  const tools = [createTool("search"), createTool("send")];
  const agents = storedAgents({ store, coded: [assistant], tools, models: [model], ...options });
  return { store, agents };
}

const getHandoffAgents = (agent: Agent | undefined): readonly Agent[] => agent?.handoffs?.() ?? [];

describe("stored agents", () => {
  it("are listed next to coded agents, marked by source (S3-54)", async () => {
    const { agents } = createAgents();
    await agents.save(createData("research", { description: "Finds things out." }), 0);
    await agents.importAgent(JSON.stringify(createData("people")));
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

  it("run with their settings, within the limits of today", async () => {
    const recordingModel = scriptedModel(() => ({ text: "Done." }));
    const store = memory();
    const open = (settingsLimits: StoredAgentsOptions["settingsLimits"] = {}) =>
      storedAgents({ store, models: [recordingModel], settingsLimits });
    const settings = { effort: "high", temperature: 0.7 } as const;
    await open().save(createData("wise", { settings }), 0);
    await open().importAgent(JSON.stringify(createData("plain", { policy: { thinking: "on" } })));
    const limited = open({ effort: "low", maxOutputTokens: 500 });
    for (const name of ["wise", "plain"]) {
      await run(await open().agent(name), "Go.");
      await run(await limited.agent(name), "Go.");
    }
    expect(recordingModel.requests.map((request) => request.settings)).toEqual([
      settings,
      { ...settings, effort: "low", maxOutputTokens: 500 },
      { effort: "medium" },
      { effort: "low", maxOutputTokens: 500 },
    ]);
    await expect(limited.save(createData("wise", { settings }), 1)).rejects.toThrow(
      'settings.effort cannot be "high": the maximum is "low".',
    );
  });

  it("are listed with the settings that their models ignore, and cannot have those they refuse", async () => {
    const agents = storedAgents({ store: memory(), models: ["anthropic/claude-opus-4-6", "openai/gpt-5"] });
    const { warning, problem } = await agents.save(createData("a", { settings: { seed: 7 } }), 0);
    expect(warning).toContain("claude-opus-4-6 does not support seed 7");
    expect(problem).toBeUndefined();
    const stopping = createData("a", { model: "openai/gpt-5", settings: { stop: "END" } });
    await expect(agents.save(stopping, 1)).rejects.toThrow("settings.stop: gpt-5 does not support stop");
    await agents.save({ ...stopping, model: "anthropic/claude-opus-4-6" }, 1);
    expect(await agents.get("a")).not.toHaveProperty("warning");
  });

  it("run with their prompt as constraints, if there is one, and with the tools they name (S3-09)", async () => {
    const recordingModel = scriptedModel(() => ({ text: "Done." }));
    const { store, agents } = createAgents({ models: [recordingModel] });
    const prompt = "Never guess.\nCite the page.";
    const described = { description: "You find things out.", tools: ["search"] };
    await agents.save(createData("with", { ...described, prompt }), 0);
    await agents.save(createData("without", { ...described, prompt: " \n" }), 0);
    for (const name of ["with", "without"]) {
      const result = await run(await agents.agent(name), "Go.", { store, session: name });
      expect(result.status).toBe("done");
      expect(new Set((await store.read(name)).map(({ agent }) => agent))).toEqual(new Set([name]));
    }
    const [first, second] = recordingModel.requests;
    expect(first?.instructions).toContain('You are "with". You find things out.');
    expect(first?.instructions).toContain(`Constraints:\n${prompt}`);
    expect(second?.instructions).not.toContain("Constraints");
    expect(first?.tools.map(({ name }) => name)).toEqual(["search"]);
  });

  it("have versions: the current one is used unless another is requested (F78)", async () => {
    const { agents } = createAgents();
    const first = await agents.save(createData("a", { tools: ["search"] }), 0);
    const second = await agents.save(createData("a", { tools: ["send"] }), first.version);
    expect([first.version, second.version]).toEqual([1, 2]);
    const toolsOf = async (version?: number) => [...(await agents.agent("a", version)).tools.keys()];
    expect(await toolsOf()).toEqual(["send"]);
    expect(await toolsOf(1)).toEqual(["search"]);
    expect(await agents.get("a", 1)).toMatchObject({ version: 1, data: { tools: ["search"] } });
    await expect(agents.agent("a", 3)).rejects.toMatchObject({
      code: "unknown_agent",
      message: 'Agent "a" has no version 3.',
    });
    await expect(agents.agent("assistant", 1)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("saved twice from the same version: one save wins, the other is rejected (F74)", async () => {
    const { store, agents } = createAgents();
    for (const expected of [0, 1, 2]) {
      const race = ["x", "y"].map((prompt) => agents.save(createData("a", { prompt }), expected));
      const outcomes = await Promise.allSettled(race);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const rejected = outcomes.find((outcome) => outcome.status === "rejected");
      expect(rejected?.reason).toMatchObject({ code: "position_conflict" });
    }
    expect(await store.listRecordVersions("agent", "a")).toHaveLength(3);
  });

  it("cannot use the name of a coded agent, nor change or remove it", async () => {
    const { agents } = createAgents();
    const nameConflict = {
      code: "invalid_input",
      message: expect.stringContaining("is the name of a coded agent"),
    };
    await expect(agents.save(createData("assistant"), 0)).rejects.toMatchObject(nameConflict);
    await expect(agents.importAgent(JSON.stringify(createData("assistant")))).rejects.toMatchObject(
      nameConflict,
    );
    await expect(agents.remove("assistant", 0)).rejects.toMatchObject({ code: "invalid_input" });
    expect(await agents.agent("assistant")).toBe(assistant);
  });

  it("are removed with all versions, but not while another agent hands off to them", async () => {
    const { agents } = createAgents();
    await agents.save(createData("people"), 0);
    await agents.save(createData("research", { handoffs: ["people"] }), 0);
    await expect(agents.remove("people", 1)).rejects.toMatchObject({
      code: "invalid_input",
      message: 'Cannot remove agent "people": "research" hands off to it. Change "research" first.',
    });
    await expect(agents.remove("research", 2)).rejects.toMatchObject({ code: "position_conflict" });
    await agents.remove("research", 1);
    await agents.remove("people", 1);
    await expect(agents.remove("people", 1)).rejects.toMatchObject({ code: "unknown_agent" });
    await expect(agents.agent("poeple")).rejects.toThrow('Stored agent "poeple" not found.');
    expect(await agents.list()).toHaveLength(1);
    const recreated = await agents.save(createData("people"), 0);
    expect(recreated.version).toBeGreaterThan(1);
  });

  it("stay marked as imported after changes", async () => {
    const { agents } = createAgents();
    await agents.importAgent(JSON.stringify(createData("a", { prompt: "old" })));
    expect(await agents.save(createData("a", { prompt: "new" }), 1)).toMatchObject({
      source: "imported",
      version: 2,
    });
  });

  it("from a file are validated like any other (A105)", async () => {
    const { store, agents } = createAgents();
    const refused = { code: "invalid_input" };
    const files = [
      "",
      "{",
      "null",
      "[]",
      `"${"x".repeat(1_000_001)}"`,
      JSON.stringify({ ...createData("a"), source: "user" }),
      JSON.stringify(createData("a", { policy: { gate: "off" } })),
      JSON.stringify(createData("a", { policy: { approvals: "allow" } })),
      JSON.stringify(createData("a", { tools: ["delete_all"] })),
      JSON.stringify({ ...createData("a"), execute: "() => 1" }),
      JSON.stringify({ ...createData("a"), format: "1" }),
    ];
    for (const file of files) await expect(agents.importAgent(file)).rejects.toMatchObject(refused);
    await expect(agents.importAgent(JSON.stringify(createData("a")), 1)).rejects.toMatchObject({
      code: "position_conflict",
    });
    expect(await store.listRecords("agent")).toEqual([]);
  });

  it("are data, never code: a function is rejected, not dropped", async () => {
    const { agents } = createAgents();
    for (const invalidFields of [
      { prompt: () => "x" },
      { tools: [createTool("search")] },
      { policy: { maxTurns: () => 3 } },
    ])
      await expect(
        agents.save({ ...createData("a"), ...invalidFields } as unknown as AgentData, 0),
      ).rejects.toMatchObject({
        code: "invalid_input",
      });
  });

  it("reject with a named error, whatever JSON is saved or imported", async () => {
    const { agents } = createAgents();
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
  it("are resolved by name, coded or stored, also circular ones (S3-27)", async () => {
    const { agents } = createAgents();
    await agents.save(createData("a"), 0);
    await agents.save(createData("b", { handoffs: ["a", "assistant"] }), 0);
    await agents.save(createData("c", { handoffs: ["b"] }), 0);
    await agents.save(createData("a", { handoffs: ["c"] }), 1);
    const a = await agents.agent("a");
    const [c] = getHandoffAgents(a);
    const [b] = getHandoffAgents(c);
    expect([c?.name, b?.name]).toEqual(["c", "b"]);
    expect(getHandoffAgents(b)).toEqual([a, assistant]);
    expect(getHandoffAgents(b)[0]).toBe(a);
    expect([...indexAgents(a).keys()]).toEqual(["a", "c", "b", "assistant"]);
    expect(getHandoffAgents(await agents.agent("assistant"))).toEqual([]);
  });

  it("to unknown agents are rejected on save, and reported when a target was removed later (S3-29)", async () => {
    const { store, agents } = createAgents();
    await expect(agents.save(createData("a", { handoffs: ["nobody"] }), 0)).rejects.toMatchObject({
      code: "invalid_input",
      message: 'The agent "a" is not valid: handoffs[0]: unknown agent "nobody".',
    });
    await agents.save(createData("b"), 0);
    await agents.save(createData("a", { handoffs: ["b"] }), 0);
    await store.removeRecord("agent", "b", 1);
    await expect(agents.agent("a")).rejects.toThrow('The agent "a" is not valid: handoffs[0]');
    expect(await agents.list()).toMatchObject([
      {},
      { name: "a", problem: expect.stringContaining("handoffs[0]") },
    ]);
  });
});

describe("the rights of stored agents", () => {
  it("end at the limits, also at limits tightened later (A104, A105)", async () => {
    const store = memory();
    const loose: StoredAgentsOptions = {
      store,
      models: [model],
      policyLimits: { gate: "off", maxTurns: 50 },
    };
    await storedAgents(loose).save(createData("a", { policy: { gate: "off", maxTurns: 50 } }), 0);
    expect((await storedAgents(loose).agent("a")).policy).toMatchObject({ gate: "off", maxTurns: 50 });
    const tight = storedAgents({ ...loose, policyLimits: { maxTurns: 5, budget: { tokens: 100 } } });
    expect((await tight.agent("a")).policy).toEqual({
      gate: "default",
      maxTurns: 5,
      budget: { tokens: 100 },
    });
    const [a] = await tight.list();
    expect(a).not.toHaveProperty("problem");
    await expect(tight.save(createData("a", { policy: { gate: "off" } }), 1)).rejects.toThrow(
      "policy.gate cannot be",
    );
    await tight.save(createData("b"), 0);
    expect((await tight.agent("b")).policy).toEqual({ maxTurns: 5, budget: { tokens: 100 } });
    const result = await run(await tight.agent("b"), "Go.", { store, session: "s" });
    const [start] = await store.read(result.sessionId);
    expect(start).toMatchObject({ policy: { maxTurns: 5, budget: { tokens: 100 }, gate: "default" } });
  });

  it("end at the registry: a missing tool is reported and does not affect other agents (F78)", async () => {
    const { store, agents } = createAgents();
    await agents.save(createData("a", { tools: ["search"] }), 0);
    await agents.save(createData("b"), 0);
    const later = storedAgents({ store, models: [model], tools: { toString: createTool("toString") } });
    expect(await later.list()).toMatchObject([
      { name: "a", problem: 'tools[0]: unknown tool "search".' },
      { name: "b" },
    ]);
    await expect(later.agent("a")).rejects.toMatchObject({ code: "invalid_input" });
    expect((await later.agent("b")).name).toBe("b");
  });

  it("invalid records are listed with their problem and cannot run", async () => {
    const { store, agents } = createAgents();
    for (const [index, body] of [null, "x", { data: 7 }, { source: "user" }].entries())
      await store.putRecord({ kind: "agent", id: `${index}`, body: body as Json }, 0);
    for (const listed of (await agents.list()).slice(1)) {
      expect(listed).toMatchObject({ problem: expect.stringContaining("must be an object") });
      await expect(agents.agent(listed.name)).rejects.toMatchObject({ code: "invalid_input" });
    }
  });

  it("a tool maker receives the sources of its agent", async () => {
    const search = ({ sources = [] }: AgentData) => createTool("search", `Searches ${sources.join(" and ")}`);
    const { agents } = createAgents({ tools: { search }, sources: ["wiki", "mail"] });
    await agents.save(createData("a", { tools: ["search"], sources: ["wiki"] }), 0);
    expect((await agents.agent("a")).specs).toMatchObject([{ name: "search", description: "Searches wiki" }]);
    await expect(agents.save(createData("b", { sources: ["payroll"] }), 0)).rejects.toThrow(
      'unknown source "payroll"',
    );
  });

  it("invalid options are rejected", async () => {
    const store = memory();
    const refused = (options: object) => expect(() => storedAgents({ store, ...options }));
    refused({ tools: { find: createTool("search") } }).toThrow('registered as "find" is named "search"');
    refused({ tools: [createTool("search"), createTool("search")] }).toThrow("Two registered tools");
    refused({ coded: [assistant, assistant] }).toThrow("Two coded agents");
    refused({ models: [] }).toThrow("need a model");
    refused({ policyLimits: { gate: "loose" } }).toThrow("policy.gate cannot be");
  });
});

describe("a run of a stored agent", () => {
  it("continues with the current version, and an approval for a changed tool does not count (F78)", async () => {
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
    await before.save(createData("mailer", { tools: ["send"] }), 0);
    const waiting = await run(await before.agent("mailer"), "Send it.", { store });
    expect(waiting.status).toBe("waiting");
    const after = storedAgents({ store, models: [asking], tools: [send("Sends a mail to everybody.")] });
    await after.save(createData("mailer", { tools: ["send"], prompt: "Be quick." }), 1);
    const resumed = resume(await after.agent("mailer"), { store, runId: waiting.runId });
    resumed.approve(waiting.pending[0]?.callId ?? "");
    const result = await resumed;
    expect(sent).toEqual([]);
    const outcome = (await store.read(result.sessionId)).find(({ type }) => type === "tool_call_result");
    expect(outcome).toMatchObject({ name: "send", status: "denied", error: { code: "approval_mismatch" } });
    expect(asking.requests.at(-1)?.instructions).toContain("Be quick.");
  });
});
