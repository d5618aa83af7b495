import { defineAgent, defineTool, type Fact } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { addToWindows, createUsageLedger } from "../access/usage-ledger.ts";
import type { ServerOptions } from "../create-server.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0);
});

const usage = { inputTokens: 60, outputTokens: 40 };
const chart = defineTool({ name: "chart", description: "The client shows a chart", input: {} });
const sail = defineTool({
  name: "sail",
  description: "Sails a mile",
  input: { mile: { type: "number" } },
  effects: "none",
  execute: ({ mile }) => `${mile}`,
});

/** Waits for its client first, then never ends. */
function serve(options: Partial<ServerOptions> = {}): TestServer {
  const model = scriptedModel((_, mile) =>
    mile === 0
      ? { calls: [{ id: "c1", name: "chart", input: {} }], usage }
      : { calls: [{ id: `c${mile + 1}`, name: "sail", input: { mile } }], usage },
  );
  const agents = [defineAgent({ name: "ship", model, tools: [chart, sail] })];
  const server = createTestServer({ agents, ...options });
  servers.push(server);
  return server;
}

async function readJson(answer: Promise<Response>) {
  return (await answer).json();
}

async function waitForState(server: TestServer, runId: string, state: string) {
  for (;;) {
    const run = await readJson(server.send("GET", `/api/runs/${runId}`));
    if (run.state === state) return run;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

type File = { facts: Fact[] & { policy: Record<string, unknown> }[] };

/** The file of a waiting run, with another policy. */
async function forgeFile(server: TestServer, policy: object): Promise<string> {
  const { runId, sessionId } = await readJson(server.send("POST", "/api/runs", { input: "Sail." }));
  await waitForState(server, runId, "waiting");
  const file: File = await readJson(server.send("GET", `/api/sessions/${sessionId}/export?format=json`));
  Object.assign(file.facts[0]?.policy ?? {}, policy);
  return JSON.stringify(file);
}

const failedEnd = {
  ...{ type: "done", status: "failed", text: "", cost: 0, grounded: true, canRetry: true },
  usage: { inputTokens: 1e6, outputTokens: 1e6 },
  error: { code: "model_failed", message: "", retryable: true },
};

const boundless = {
  ...{ maxTurns: 100_000, repetition: { nudgeAt: 100_000, stopAt: 100_000 } },
  budget: { tokens: "unlimited", cost: "unlimited", seconds: "unlimited", toolCalls: "unlimited" },
};

async function readStart(server: TestServer, sessionId: string) {
  const answer = await server.send("GET", `/api/sessions/${sessionId}/events`, undefined, {
    accept: "application/json",
  });
  return (await answer.json()).facts[0];
}

describe("an imported run that is not over", () => {
  it("is limited to what is left of its importer's quota, regardless of the file (A92)", async () => {
    const server = serve({
      quotas: { default: { tokens: { day: 1000 }, concurrentRuns: 1 } },
      policy: { maxTurns: 50 },
    });
    const file = await forgeFile(server, boundless);
    const { id, runs } = await readJson(server.send("POST", "/api/sessions", { file }));
    expect((await readStart(server, id)).policy.budget.tokens).toBeLessThanOrEqual(1000);
    await server.send("POST", `/api/runs/${runs[0].runId}/steer`, { text: "Go on." });
    const { result } = await waitForState(server, runs[0].runId, "ended");
    expect(result).toMatchObject({ status: "limit", error: { code: "budget_tokens" } });
    expect(result.usage.inputTokens + result.usage.outputTokens).toBeLessThan(1300);
  });

  it("has the policy of its importer's own runs, within the policy limits (A87)", async () => {
    const policyLimits = { maxTurns: 7, gate: "strict", budget: { cost: 2, seconds: 60 } } as const;
    const server = serve({ policyLimits, policy: { wrapUpAt: 1, budget: { seconds: 20 } } });
    const file = await forgeFile(server, { ...boundless, budget: { tokens: 500, cost: 9, seconds: 30 } });
    const { id } = await readJson(server.send("POST", "/api/sessions", { file }));
    expect((await readStart(server, id)).policy).toMatchObject({
      maxTurns: 7,
      gate: "strict",
      wrapUpAt: 1,
      budget: { tokens: "unlimited", cost: 2, seconds: 20, toolCalls: "unlimited" },
    });
  });

  it("has the rights of its agent, and the strictest of all if this server does not have that agent", async () => {
    const agent = defineAgent({
      ...{ name: "ship", model: scriptedModel([{ calls: [{ name: "chart" }] }]), tools: [chart] },
      policy: { approvals: "deny", maxTurns: 3 },
    });
    const server = serve({ agents: [agent] });
    const file: File = JSON.parse(await forgeFile(server, { ...boundless, approvals: "allow", gate: "off" }));
    const importAs = async (name: string) => {
      for (const fact of file.facts) Object.assign(fact, { agent: name });
      const { id } = await readJson(server.send("POST", "/api/sessions", { file: JSON.stringify(file) }));
      return (await readStart(server, id)).policy;
    };
    expect(await importAs("ship")).toMatchObject({ approvals: "deny", gate: "default", maxTurns: 3 });
    expect(await importAs("ship@gpt")).toMatchObject({ approvals: "deny", gate: "strict", maxTurns: 10 });
  });

  it("cannot have negative usage (A92)", async () => {
    const server = serve({ quotas: { default: { tokens: { day: 1000 }, concurrentRuns: 1 } } });
    const file: File = JSON.parse(await forgeFile(server, {}));
    for (const fact of file.facts)
      if ("usage" in fact) Object.assign(fact, { usage: { inputTokens: -1e9, outputTokens: 0 } });
    const answer = await server.send("POST", "/api/sessions", { file: JSON.stringify(file) });
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.message).toContain("must be a number that is not negative");
  });

  it("is not run again under the policy of its file, when that is beyond the limits (A87)", async () => {
    const server = serve({ policyLimits: { maxTurns: 7 } });
    const file: File = JSON.parse(await forgeFile(server, { ...boundless, approvals: "allow", gate: "off" }));
    const { id, runs } = await readJson(server.send("POST", "/api/sessions", { file: JSON.stringify(file) }));
    await server.send("POST", `/api/runs/${runs[0].runId}/cancel`, {});
    await waitForState(server, runs[0].runId, "ended");
    const over: File = await readJson(server.send("GET", `/api/sessions/${id}/export?format=json`));
    Object.assign(over.facts[0]?.policy ?? {}, { ...boundless, approvals: "allow", gate: "off" });
    const again = await readJson(server.send("POST", "/api/sessions", { file: JSON.stringify(over) }));
    expect((await readStart(server, again.id)).policy).toMatchObject({
      ...{ maxTurns: 7, approvals: "ask", gate: "default" },
    });
  });

  it("gives no tokens of the day back when it is retried (A92)", async () => {
    const store = memory();
    const server = serve({ store, quotas: { default: { tokens: { day: 1000 }, concurrentRuns: 1 } } });
    const file: File = JSON.parse(await forgeFile(server, {}));
    const ledger = createUsageLedger(store);
    await ledger.update("", (usage) => [addToWindows(usage, { tokens: 800 }), undefined]);
    const last = file.facts.at(-1);
    if (last) file.facts.splice(-1, 1, { ...last, ...failedEnd } as Fact);
    const { runs } = await readJson(server.send("POST", "/api/sessions", { file: JSON.stringify(file) }));
    await server.send("POST", `/api/runs/${runs[0].runId}/retry`, {});
    await waitForState(server, runs[0].runId, "ended");
    await expect.poll(async () => (await ledger.read("")).windows.day.tokens).toBeGreaterThanOrEqual(1000);
    const facts = await store.read((await store.findSession(runs[0].runId)) ?? "");
    expect(facts.find(({ type }) => type === "retried")).toMatchObject({ usageBefore: { inputTokens: 0 } });
  });

  it("does not have the tools or the instructions that another request has stored", async () => {
    const store = memory();
    const server = serve({ store });
    const file: File = JSON.parse(await forgeFile(server, {}));
    const toolset = "A".repeat(43);
    await store.putRecord({ kind: "client-tools", id: toolset, body: { instructions: "Obey." } }, 0);
    for (const fact of file.facts) Object.assign(fact, { agent: `ship+tools_${toolset}` });
    const { id } = await readJson(server.send("POST", "/api/sessions", { file: JSON.stringify(file) }));
    expect((await readStart(server, id)).agent).toBe("ship");
  });

  it("is repeated with the deployment's policy, not with its own", async () => {
    const server = serve({ policy: { maxTurns: 4 } });
    const file = await forgeFile(server, { ...boundless, approvals: "allow", gate: "off" });
    const { runs } = await readJson(server.send("POST", "/api/sessions", { file }));
    const again = await readJson(server.send("POST", `/api/runs/${runs[0].runId}/rerun`, {}));
    const { policy, imported } = await readStart(server, again.sessionId);
    expect(policy).toMatchObject({ maxTurns: 4, gate: "default", approvals: "ask" });
    expect([policy.repetition, imported]).toEqual([{ nudgeAt: 2, stopAt: 3 }, undefined]);
  });

  it("is refused when nothing is left of the day (A92)", async () => {
    const store = memory();
    const server = serve({ store, quotas: { default: { tokens: { day: 1000 }, concurrentRuns: 1 } } });
    const file = await forgeFile(server, boundless);
    await createUsageLedger(store).update("", (usage) => [addToWindows(usage, { tokens: 1000 }), undefined]);
    const answer = await server.send("POST", "/api/sessions", { file });
    expect([answer.status, (await answer.json()).error.code]).toEqual([429, "quota_exceeded"]);
  });
});

describe("a file", () => {
  it("of 100,000 levels is refused, also within the data of a result (A134)", async () => {
    const server = serve();
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const file = JSON.parse(await forgeFile(server, {}));
    file.facts.at(-1).data = "deep";
    for (const text of [deep, `{"facts":${deep}}`, JSON.stringify(file).replace('"deep"', deep)]) {
      const answer = await server.send("POST", "/api/sessions", { file: text });
      expect([answer.status, (await answer.json()).error]).toEqual([
        ...[
          400,
          expect.objectContaining({ code: "invalid_input", message: expect.stringContaining("levels deep") }),
        ],
      ]);
    }
  });

  it("of 5 MiB is imported; an import too large for the body limit is too large for the schema too (A89)", async () => {
    const server = serve();
    const file = JSON.parse(await forgeFile(server, {}));
    file.facts[0].input[0].content = "x".repeat(5 * 1024 * 1024);
    const answer = await server.send("POST", "/api/sessions", { file: JSON.stringify(file) });
    expect(answer.status).toBe(201);
    file.facts[0].input[0].content = "x".repeat(16 * 1024 * 1024);
    const large = await server.send("POST", "/api/sessions", { file: JSON.stringify(file) });
    expect([large.status, (await large.json()).error.code]).toEqual([413, "body_too_large"]);
    const elsewhere = await server.send("POST", "/api/runs", { input: "x".repeat(5 * 1024 * 1024) });
    expect(elsewhere.status).toBe(413);
  });

  it("of an empty session makes an empty session of the same title (S4-60)", async () => {
    const server = serve();
    const { id } = await readJson(server.send("POST", "/api/sessions", { title: "Plans" }));
    const file = await (await server.send("GET", `/api/sessions/${id}/export?format=json`)).text();
    const made = await server.send("POST", "/api/sessions", { file });
    expect(made.status).toBe(201);
    const summary = await made.json();
    expect(summary).toMatchObject({ title: "Plans", facts: 0, runs: [] });
    expect(summary.id).not.toBe(id);
  });
});
