import { type Agent, defineAgent, defineTool, run } from "capstan";
import { collect, fakeClock, type ScriptedStep, scriptedModel } from "capstan/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StdioConfig } from "../config/server-config.ts";
import { type McpTools, mcpTools } from "../mcp-tools.ts";
import { findStatus, waitUntil } from "../testing/test-servers.ts";

/** Fails so many times, then works; tells on stderr what is cancelled. */
const flaky = `
let failures = Number(process.env.FAILURES ?? 0);
const tools = ["fetch", "wait"].map((name) => ({ name, inputSchema: { type: "object" } }));
const capabilities = { tools: {} };
const serverInfo = { name: "flaky", version: "1" };
const text = (text) => [{ type: "text", text }];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => {
    console.error("called " + name);
    if (name === "wait") return undefined;
    return failures-- > 0 ? { isError: true, content: text("busy") } : { content: text("It is red.") };
  },
  "notifications/cancelled": ({ requestId }) => void console.error("cancelled " + typeof requestId),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  const result = answers[method]?.(params);
  const error = { code: -32601, message: "unknown" };
  if (id !== undefined && (result || !answers[method]))
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});`;

const server = (failures: number, more: Partial<StdioConfig> = {}): StdioConfig => ({
  command: process.execPath,
  args: ["-e", flaky],
  env: { FAILURES: String(failures) },
  trust: "metadata",
  ...more,
});

describe("calls of a tool", () => {
  let mcp: McpTools;
  beforeAll(async () => {
    const read = { effects: "none" } as const;
    mcp = await mcpTools({
      mcpServers: {
        once: server(1, read),
        twice: server(2, read),
        never: server(100, read),
        careful: server(1),
        plain: server(0),
        relaxed: server(0, { tools: { fetch: read } }),
        deferred: server(0, { ...read, defer: true, tools: { wait: { defer: false } } }),
      },
    });
  });
  afterAll(() => mcp.close());

  const createTestAgent = (
    steps: readonly ScriptedStep[],
    more: Partial<Parameters<typeof defineAgent>[0]> = {},
  ): Agent => defineAgent({ name: "asker", model: scriptedModel(steps), tools: mcp.tools, ...more });
  const createCallStep = (name: string): ScriptedStep => ({ calls: [{ name: `mcp_${name}_fetch` }] });

  it("have to be found first if the server is deferred, except those that are not", async () => {
    const tools = mcp.tools.filter(({ name }) => name.startsWith("mcp_deferred_"));
    const query = { name: "search_tools", input: { query: "fetch from deferred" } };
    const model = scriptedModel([{ calls: [query] }, createCallStep("deferred"), { text: "Red." }]);
    const result = await run(defineAgent({ name: "asker", model, tools }), "Which color?");
    expect(result.toolCalls.map(({ result: text }) => text)).toEqual([
      expect.stringContaining("mcp_deferred_fetch"),
      "It is red.",
    ]);
    const fixed = ["mcp_deferred_wait", "search_tools", "read_result"];
    expect(model.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([
      fixed,
      [...fixed, "mcp_deferred_fetch"],
      [...fixed, "mcp_deferred_fetch"],
    ]);
  });

  it("that fail once are retried after 1000 ms if the user configured them as read-only (M3)", async () => {
    const clock = fakeClock({ skipUpToMs: 1_000 });
    const startedAt = clock.now();
    const agent = createTestAgent([createCallStep("once"), { text: "Red." }]);
    const { events, result } = await collect(run(agent, "Which colour?", { clock }));
    expect(events.filter(({ type }) => type === "retry")).toMatchObject([{ attempt: 1, waitMs: 1_000 }]);
    expect(clock.now() - startedAt).toBe(1_000);
    expect(result).toMatchObject({
      text: "Red.",
      grounded: true,
      toolCalls: [{ status: "ok", attempts: 2 }],
    });
  });

  it("that fail twice are an error, and the run continues (M3)", async () => {
    const agent = createTestAgent([createCallStep("twice"), { text: "I do not know." }]);
    const { facts, result } = await collect(run(agent, "?", { clock: fakeClock({ skipUpToMs: 1_000 }) }));
    const [fact] = facts.filter(({ type }) => type === "tool_call_result");
    expect(fact).toMatchObject({
      status: "error",
      attempts: 2,
      result: "busy",
      error: { code: "tool_failed" },
    });
    expect(result).toMatchObject({ status: "done", text: "I do not know.", grounded: false });
  });

  it("are not retried just because the server declares them safe to retry", async () => {
    const result = await run(createTestAgent([createCallStep("careful"), { text: "No." }]), "?");
    expect(result.toolCalls).toMatchObject([{ status: "error", attempts: 1 }]);
  });

  it("that all fail lead to an answer from general knowledge, marked as such (M3)", async () => {
    const steps = [
      { calls: ["never", "never"].map((name) => ({ name: `mcp_${name}_fetch` })) },
      { text: "Red, I think." },
    ];
    const agent = createTestAgent(steps, { policy: { onAllToolsFailed: "answer-from-knowledge" } });
    const result = await run(agent, "?", { clock: fakeClock({ skipUpToMs: 1_000 }) });
    expect(result).toMatchObject({ status: "done", text: "Red, I think.", grounded: false, turns: 2 });
  });

  it("need approval once the server was read: it is untrusted, private and may change state", async () => {
    const running = run(
      createTestAgent([createCallStep("plain"), createCallStep("plain"), { text: "Red." }]),
      "?",
    );
    const asked = await running;
    expect(asked).toMatchObject({
      status: "waiting",
      toolCalls: [{ status: "ok" }],
      pending: [{ needs: "approval" }],
    });
    expect(asked.pending[0]?.reason).toMatch(
      /^"mcp_plain_fetch" would change something after the agent read text from others/,
    );
    expect(await running.approve(asked.pending[0]?.callId ?? "")).toMatchObject({
      status: "done",
      text: "Red.",
    });
  });

  it("need no approval if the user configured the tool without effects", async () => {
    const result = await run(
      createTestAgent([createCallStep("relaxed"), createCallStep("relaxed"), { text: "Red." }]),
      "?",
    );
    expect(result).toMatchObject({ status: "done", toolCalls: [{ status: "ok" }, { status: "ok" }] });
  });

  it("make later calls of own tools need approval", async () => {
    const send = defineTool({
      name: "send",
      description: "",
      input: { type: "object" },
      effects: "send",
      execute: () => "",
    });
    const steps = [createCallStep("relaxed"), { calls: [{ name: "send" }] }];
    const result = await run(createTestAgent(steps, { tools: [...mcp.tools, send] }), "?");
    expect(result).toMatchObject({ status: "waiting", pending: [{ name: "send" }] });
  });

  it("that are cancelled are cancelled at the server, and the run ends (S4-47)", async () => {
    const running = run(createTestAgent([{ calls: [{ name: "mcp_plain_wait" }] }]), "?");
    await waitUntil("the call has arrived", () => findStatus(mcp, "plain").log.includes("called wait"));
    running.cancel("Enough.");
    expect(await running).toMatchObject({ status: "cancelled", toolCalls: [{ status: "interrupted" }] });
    await waitUntil("the server hears it", () =>
      findStatus(mcp, "plain").log.some((line) => line.startsWith("cancelled ")),
    );
  });
});
