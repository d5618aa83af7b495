import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AgentError, defineAgent, defineTool, type RunInfo } from "capstan";
import { getScope } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import type { Quotas } from "../access/quotas.ts";
import { type ListeningServer, listen } from "../listen.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
let listening: ListeningServer;
afterEach(() => listening.close(0));

const store = memory();

async function serve(quotas?: Quotas): Promise<void> {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: {},
    effects: "none",
    execute: () => "Rain.",
  });
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result" ? { text: "It rains." } : { calls: [{ name: "look" }] },
  );
  server = createTestServer({
    agents: [defineAgent({ name: "helper", model, tools: [look] })],
    store,
    ...(quotas && { quotas: { default: quotas } }),
  });
  listening = await listen(server, { port: 0 });
}

async function connect(era: "modern" | "legacy", secret?: string): Promise<Client> {
  const mode = era === "modern" ? { mode: { pin: "2026-07-28" } } : ({ mode: "legacy" } as const);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: mode });
  const headers: Record<string, string> = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${listening.url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

type Answer = { readonly answer: string; readonly session: string; readonly status: string };

const query = async (client: Client, input: object = {}) =>
  (await client.callTool({ name: "query", arguments: { prompt: "Weather?", ...input } }))
    .structuredContent as Answer;

it.each([
  "modern",
  "legacy",
] as const)("an MCP client (%s) asks an agent, in a session that its user finds among the others", async (era) => {
  await serve();
  const { secret } = await server.keys.create({ user: `ada-${era}` });
  const client = await connect(era, secret);
  const answer = await query(client);
  expect(answer).toMatchObject({ answer: "It rains.", status: "done" });
  await query(client, { sessionId: answer.session });
  const authorization = `Bearer ${secret}`;
  const { runs } = await (await server.send("GET", "/api/runs", undefined, { authorization })).json();
  expect(runs).toHaveLength(2);
  expect(runs.map(({ sessionId }: RunInfo) => getScope(sessionId))).toEqual([`ada-${era}`, `ada-${era}`]);
  expect(runs[0].sessionId.endsWith(answer.session)).toBe(true);
  const run = await server.send("GET", `/api/runs/${runs[0].runId}`, undefined, { authorization });
  expect(await run.json()).toMatchObject({ state: "ended", result: { text: "It rains." } });
  await client.close();
});

it("the sessions of other users, and sessions of other wires, cannot be reached by their ids (A84)", async () => {
  await serve();
  const [ada, eve] = await Promise.all(["ada", "eve"].map((user) => server.keys.create({ user })));
  const client = await connect("modern", ada?.secret);
  const { session: sessionId } = await query(client);
  const other = await connect("modern", eve?.secret);
  await query(other, { sessionId });
  const own = await store.list({ scope: "ada" });
  expect(own).toHaveLength(1);
  expect(await store.list({ scope: "eve" })).toHaveLength(1);
  const stolen = await other.callTool({ name: "query", arguments: { prompt: "?", sessionId: own[0]?.id } });
  expect(stolen.isError).toBe(true);
  const [{ runId = "" } = {}] = await store.listRuns(own[0]?.id ?? "");
  const resumed = await other.callTool({ name: "resume", arguments: { runId } });
  expect(JSON.stringify(resumed)).toContain("unknown_run");
  await expect(connect("modern", "nobody")).rejects.toThrow();
  await Promise.all([client.close(), other.close()]);
});

it("usage over MCP counts toward the quotas (A92)", async () => {
  await serve({ tokens: { day: 20 }, concurrentRuns: 1 });
  const { secret } = await server.keys.create({ user: "spender" });
  const client = await connect("modern", secret);
  await query(client);
  const answer = await client.callTool({ name: "query", arguments: { prompt: "More?" } });
  expect(JSON.stringify(answer)).toContain("quota_exceeded");
  await client.close();
});

it("a failed model's provider is quoted to admins, and to no other MCP client (A94)", async () => {
  const model = scriptedModel(() => ({
    error: new AgentError("model_rejected", "org-Zx81 is out of credit"),
  }));
  server = createTestServer({ agents: [defineAgent({ name: "helper", model })] });
  listening = await listen(server, { port: 0 });
  for (const isAdmin of [false, true]) {
    const { secret } = await server.keys.create({ user: `user-${isAdmin}`, isAdmin });
    const client = await connect("modern", secret);
    const result = await client.callTool({ name: "query", arguments: { prompt: "Hi" } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: "model_rejected" } } });
    expect(JSON.stringify(result).includes("org-Zx81")).toBe(isAdmin);
    await client.close();
  }
});

it("the prompt of an MCP client counts as the user's words, a documented limit", async () => {
  const model = scriptedModel(() => ({ text: "Hi." }));
  server = createTestServer({ agents: [defineAgent({ name: "helper", model })] });
  listening = await listen(server, { port: 0 });
  await query(await connect("modern"));
  expect(model.requests[0]?.history).toEqual([{ type: "user", content: "Weather?" }]);
});
