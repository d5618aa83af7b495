import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ServerOptions } from "../create-server.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let opened: { close(): unknown }[] = [];
let folder = "";
beforeEach(() => {
  opened = [];
  folder = mkdtempSync(join(tmpdir(), "capstan-runs-"));
});
afterEach(async () => {
  for (const one of opened) await one.close();
  rmSync(folder, { recursive: true });
});

const weather = defineTool({
  name: "weather",
  description: "Current weather of a city",
  input: { city: { type: "string" } },
  effects: "none",
  execute: () => "Rain",
});

function serve(script: Script, options: Partial<ServerOptions> = {}): TestServer {
  const agents = [defineAgent({ name: "helper", model: scriptedModel(script), tools: [weather] })];
  const server = createTestServer({ agents, ...options });
  opened.unshift({ close: () => server.close(0) });
  return server;
}

/** As opened by another process. */
function openFileStore(): Store {
  const store = sqlite(join(folder, "capstan.db"), { pollMs: 20 });
  opened.push(store);
  return store;
}

const says: Script = () => ({ text: "It rains." });
const hangs: Script = () => ({ text: "Well", hang: true });

/** Reads the stream of a run to its end. */
const readStream = async ({ send }: TestServer, runId: string) =>
  (await send("GET", `/api/runs/${runId}/events`)).text();

describe("a run over HTTP", () => {
  it("is started, streamed to its end, and returns its result (S1-25, S4-12)", async () => {
    const server = serve([{ calls: [{ name: "weather", input: { city: "Oslo" } }] }, { text: "It rains." }]);
    const started = await server.send("POST", "/api/runs", { input: "Weather in Oslo?" });
    expect(started.status).toBe(201);
    const { runId, sessionId } = await started.json();
    expect(started.headers.get("location")).toBe(`/api/runs/${runId}`);
    const text = await readStream(server, runId);
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(text).toContain("event: tool_call_result");
    expect(text.trimEnd().split("\n").at(-2)).toBe("event: done");
    const run = await (await server.send("GET", `/api/runs/${runId}`)).json();
    expect(run).toMatchObject({ state: "ended", sessionId, pending: [] });
    expect(run.result).toMatchObject({ status: "done", text: "It rains.", usage: { inputTokens: 20 } });
  });

  it("continues a stored conversation, and is listed with it (S4-55)", async () => {
    const server = serve((request) => ({ text: `You have said ${request.history.length} things.` }));
    const { runId, sessionId } = await (await server.send("POST", "/api/runs", { input: "One" })).json();
    await readStream(server, runId);
    const second = await (await server.send("POST", "/api/runs", { input: "Two", sessionId })).json();
    expect(second.sessionId).toBe(sessionId);
    await readStream(server, second.runId);
    const { result } = await (await server.send("GET", `/api/runs/${second.runId}`)).json();
    expect(result.text).toBe("You have said 3 things.");
    const { runs } = await (await server.send("GET", `/api/runs?sessionId=${sessionId}`)).json();
    expect(runs.map((run: { runId: string }) => run.runId).toSorted()).toEqual(
      [runId, second.runId].toSorted(),
    );
    expect((await (await server.send("GET", "/api/runs?most=1")).json()).runs).toHaveLength(1);
  });

  it.each([
    ["Pacific/Kiritimati", "Pacific/Kiritimati"],
    ["Atlantis/Poseidonis", Intl.DateTimeFormat().resolvedOptions().timeZone],
  ])("states dates in the time zone of the client: for %s in %s (S3-03, S3-64)", async (timeZone, told) => {
    const agents = [
      defineAgent({
        name: "clock",
        model: scriptedModel(({ instructions }) => ({ text: instructions })),
        instructions: ({ now }) => now,
      }),
    ];
    const server = serve(says, { agents });
    const { runId } = await (await server.send("POST", "/api/runs", { input: "When?", timeZone })).json();
    await readStream(server, runId);
    const { result } = await (await server.send("GET", `/api/runs/${runId}`)).json();
    expect(result.text).toContain(`(${told})`);
  });

  it("with `onBusy: reject` is not begun while another run of its session is not over", async () => {
    const server = serve(hangs);
    const { sessionId } = await (await server.send("POST", "/api/runs", { input: "One" })).json();
    const policy = { onBusy: "reject" };
    const second = await server.send("POST", "/api/runs", { input: "Two", sessionId, policy });
    expect(second.status).toBe(409);
    expect((await second.json()).error).toMatchObject({ code: "session_busy", retryable: true });
  });

  it("is shown in its current state, without waiting for its end", async () => {
    const server = serve(hangs);
    const { runId } = await (await server.send("POST", "/api/runs", { input: "One" })).json();
    const run = await (await server.send("GET", `/api/runs/${runId}`)).json();
    expect(run).toMatchObject({ state: "active", pending: [] });
    expect(run.result).toBeUndefined();
  });

  it.each([
    ["an agent that is not there", { agent: "nobody" }, 404, "unknown_agent"],
    ["a model that is not offered", { model: "evil/model" }, 400, "invalid_input"],
    ["a policy beyond the limits", { policy: { approvals: "allow" } }, 400, "invalid_input"],
    ["a policy that is none", { policy: { maxTurns: "many" } }, 400, "invalid_input"],
    ["a session that is not there", { sessionId: "ses_nowhere" }, 404, "not_found"],
  ])("is refused with %s, and nothing is stored (A87)", async (_, body, status, code) => {
    const store = memory();
    const { send } = serve(says, { store });
    const answer = await send("POST", "/api/runs", { input: "Hello", ...body });
    expect(answer.status).toBe(status);
    expect((await answer.json()).error.code).toBe(code);
    expect(await store.list()).toEqual([]);
  });
});

it.each([
  ["data that is not base64", { mediaType: "image/png", data: "not base64!" }],
  ["data that is cut off", { mediaType: "image/png", data: "iVBORw0KG" }],
  ["no data", { mediaType: "image/png", data: "" }],
  ["a media type with a line break", { mediaType: "image/png\r\nx: y", data: "iVBORw0KGgo=" }],
  ["a media type that is none", { mediaType: "\u0000", data: "iVBORw0KGgo=" }],
])("an image with %s is refused (A115)", async (_, image) => {
  const store = memory();
  const { send } = serve(says, { store });
  const answer = await send("POST", "/api/runs", { input: [{ type: "image", ...image }] });
  expect([answer.status, (await answer.json()).error.code]).toEqual([400, "invalid_input"]);
  expect(await store.list()).toEqual([]);
});

it("an agent that is not there is not called a stored one", async () => {
  const { send } = serve(says);
  const answer = await send("POST", "/api/runs", { input: "Hello", agent: "helpr" });
  expect((await answer.json()).error.message).toBe(
    'Unknown agent "helpr". `GET /api/agents` lists the agents.',
  );
});

describe("the same request with the same Idempotency-Key", () => {
  const key = { "idempotency-key": "order-1" };
  const send = async (server: TestServer, body: object, headers: Record<string, string> = key) => {
    const answer = await server.send("POST", "/api/runs", body, headers);
    return { status: answer.status, body: await answer.json() };
  };

  it("finds its run after a restart, and also when it has ended (F84)", async () => {
    const store = openFileStore();
    const first = serve(says, { store });
    const { body } = await send(first, { input: "Buy one", policy: { budget: { tokens: 10 } } });
    await readStream(first, body.runId);
    await first.close(0);
    const again = await send(serve(says, { store: openFileStore() }), {
      input: "Buy one",
      policy: { budget: { tokens: 10 } },
    });
    expect(again).toEqual({ status: 200, body });
  });

  it.each([
    ["other words", { input: "Buy two" }],
    ["another agent", { input: "Buy one", agent: "other" }],
    ["a policy", { input: "Buy one", policy: { maxTurns: 3, retry: { maxAttempts: 1 } } }],
  ])("and %s is refused (F84)", async (_, body) => {
    const model = scriptedModel(says);
    const agents = [defineAgent({ name: "helper", model }), defineAgent({ name: "other", model })];
    const server = serve(says, { agents });
    await send(server, { input: "Buy one" });
    const answer = await send(server, body);
    expect(answer).toMatchObject({ status: 409, body: { error: { code: "idempotency_conflict" } } });
  });

  it("is the same with a part of a policy, of which the run has stored the whole (F84)", async () => {
    const server = serve(says);
    const body = { input: "Buy one", policy: { maxTurns: 3, retry: { maxAttempts: 1 } } };
    const first = await send(server, body);
    expect(await send(server, body)).toEqual({ status: 200, body: first.body });
  });

  it("for another session is another request (F84)", async () => {
    const server = serve(says);
    const { body } = await send(server, { input: "Hello" }, {});
    await readStream(server, body.runId);
    await send(server, { input: "Buy one" });
    const other = await send(server, { input: "Buy one", sessionId: body.sessionId });
    expect(other.body.error.code).toBe("idempotency_conflict");
  });
});
