import { defineAgent, type PolicyOverrides, toPlainText } from "capstan";
import { createClient } from "capstan/client";
import { listQueuedRuns, session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "./testing/test-server.ts";

const opened: TestServer[] = [];
const gates: (() => void)[] = [];
afterEach(async () => {
  for (const open of gates.splice(0)) open();
  await Promise.all(opened.splice(0).map((server) => server.close(0)));
});

/** A server whose agent repeats the last message, once `open` is called. */
function serve(policy: PolicyOverrides = {}) {
  const gate = Promise.withResolvers<void>();
  gates.push(gate.resolve);
  const model = scriptedModel(
    ({ history }) => {
      const question = history.findLast((entry) => entry.type === "user");
      return { text: `Re: ${question ? toPlainText(question.content) : ""}`, delayMs: 0 };
    },
    {
      wait: (_, signal) =>
        Promise.race([
          gate.promise,
          new Promise<void>((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
          ),
        ]),
    },
  );
  const store = memory();
  const server = createTestServer({ agents: [defineAgent({ name: "helper", model })], store, policy });
  opened.push(server);
  const start = async (input: string, more: object = {}) => {
    const response = await server.send("POST", "/api/runs", { input, ...more });
    return { status: response.status, ...(await response.json()) };
  };
  const get = async (path: string) => (await server.send("GET", path)).json();
  return { server, store, model, start, get, open: gate.resolve };
}

/** The ends of the runs of a session, in order. */
async function listEnds(store: ReturnType<typeof memory>, sessionId: string): Promise<readonly string[]> {
  const facts = await session(store, sessionId).facts();
  return facts.flatMap((fact) => (fact.type === "done" ? [`${fact.status}: ${fact.text}`] : []));
}

describe("a message to a busy session over HTTP", () => {
  it("is stored and answered with 202, listed as queued, and streamed once it starts", async () => {
    const { server, store, start, get, open } = serve();
    const { sessionId, runId: first } = await start("One");
    const second = await start("Two", { sessionId });
    const third = await start("Three", { sessionId });
    expect(second).toEqual({ status: 202, runId: expect.any(String), sessionId });
    const { runs } = await get(`/api/runs?sessionId=${sessionId}`);
    expect(runs).toMatchObject([
      { runId: third.runId, state: "queued", text: "Three" },
      { runId: second.runId, state: "queued", text: "Two" },
      { runId: first, state: "active" },
    ]);
    expect(await get(`/api/runs/${second.runId}`)).toMatchObject({ state: "queued", pending: [] });
    const events = await server.send("GET", `/api/runs/${third.runId}/events`, undefined, {
      accept: "text/event-stream",
    });
    expect(events.status).toBe(200);
    open();
    expect(await events.text()).toContain("Re: Three");
    expect(await listEnds(store, sessionId)).toEqual(["done: Re: One", "done: Re: Two", "done: Re: Three"]);
  });

  it("is not shown to other users, nor cancelled by them (A84)", async () => {
    const { server, start } = serve();
    const { sessionId } = await start("One");
    const { runId } = await start("Two", { sessionId });
    const { secret } = await server.keys.create({ user: "eve" });
    const authorization = `Bearer ${secret}`;
    for (const [method, path] of [
      ["GET", `/api/runs/${runId}`],
      ["GET", `/api/runs/${runId}/events`],
      ["POST", `/api/runs/${runId}/cancel`],
    ] as const) {
      const body = method === "POST" ? {} : undefined;
      expect((await server.send(method, path, body, { authorization })).status).toBe(404);
    }
  });

  it("can be cancelled before its turn, and takes no other message", async () => {
    const { server, store, start, model, open } = serve();
    const { sessionId } = await start("One");
    const { runId } = await start("Two", { sessionId });
    expect((await server.send("POST", `/api/runs/${runId}/steer`, { text: "x" })).status).toBe(400);
    expect((await server.send("POST", `/api/runs/${runId}/cancel`, {})).status).toBe(202);
    open();
    await expect.poll(() => listEnds(store, sessionId)).toHaveLength(2);
    expect((await listEnds(store, sessionId))[1]).toMatch(/^cancelled: /);
    expect(model.requests).toHaveLength(1);
  });

  it("counts once with an Idempotency-Key", async () => {
    const { server, store, start, open } = serve();
    const { sessionId } = await start("One");
    const send = async () =>
      (
        await server.send("POST", "/api/runs", { input: "Two", sessionId }, { "idempotency-key": "k" })
      ).json();
    const [first, ...others] = [await send(), await send(), await send()];
    expect(others).toEqual([first, first]);
    open();
    await expect.poll(() => listEnds(store, sessionId)).toHaveLength(2);
    expect(await send()).toEqual(first);
    expect(await listEnds(store, sessionId)).toHaveLength(2);
  });

  it("is refused with `queue_full` after 20 others", async () => {
    const { start } = serve();
    const { sessionId } = await start("One");
    for (let count = 0; count < 20; count++)
      expect((await start(`${count}`, { sessionId })).status).toBe(202);
    expect(await start("Too many", { sessionId })).toMatchObject({
      status: 429,
      error: { code: "queue_full" },
    });
  });

  it("does not start when the session is removed", async () => {
    const { server, store, start, model } = serve();
    const { sessionId } = await start("One");
    await start("Two", { sessionId });
    await expect.poll(() => model.requests.length).toBe(1);
    expect((await server.send("DELETE", `/api/sessions/${sessionId}`)).status).toBe(204);
    expect(await store.listRecords("queue")).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  it("with `steer` reaches the unfinished run, whose id is returned, once per key", async () => {
    const { server, store, start, open } = serve({ onBusy: "steer" });
    const { sessionId, runId } = await start("One");
    const send = async () => {
      const headers = { "idempotency-key": "k" };
      return (await server.send("POST", "/api/runs", { input: "Two", sessionId }, headers)).json();
    };
    expect(await send()).toEqual({ runId, sessionId });
    expect(await send()).toEqual({ runId, sessionId });
    open();
    await expect.poll(() => listEnds(store, sessionId)).toEqual(["done: Re: Two"]);
    expect(await send()).toEqual({ runId, sessionId });
    expect(await listEnds(store, sessionId)).toHaveLength(1);
  });

  it("with `interrupt` ends the unfinished run and is next", async () => {
    const { store, start, open } = serve();
    const { sessionId } = await start("One");
    await start("Two", { sessionId, policy: { onBusy: "interrupt" } });
    open();
    await expect
      .poll(() => listEnds(store, sessionId))
      .toEqual([expect.stringMatching(/^cancelled: /), "done: Re: Two"]);
  });
});

const chat = (id: string, text: string) => ({
  ...{ id, trigger: "submit-message" },
  messages: [{ id: text, role: "user", parts: [{ type: "text", text }] }],
});
const agUi = (threadId: string, text: string) => ({
  ...{ threadId, runId: `run ${text}`, state: {}, tools: [], context: [], forwardedProps: {} },
  messages: [{ id: text, role: "user", content: text }],
});

describe("a message to a busy conversation waits for its turn, and its response carries the answer", () => {
  it.each([
    ["useChat", "/api/ui/chat", chat],
    ["AG-UI", "/ag-ui", agUi],
  ])("of %s", async (_, path, build) => {
    const { server, store, open } = serve();
    const first = await server.send("POST", path, build("c1", "One"));
    const waiting = await server.send("POST", path, build("c1", "Two"));
    const sessionId = first.headers.get("x-session-id") ?? "";
    expect(await listQueuedRuns(store, sessionId)).toHaveLength(1);
    open();
    const answers = [await first.text(), await waiting.text()];
    expect(answers[0]).toContain("Re: One");
    expect(answers[0]).not.toContain("Re: Two");
    expect(answers[1]).toContain("Re: Two");
    expect(answers[1]).not.toContain("Re: One");
  });

  it("of POST /api/chat with a session", async () => {
    const { server, start, open } = serve();
    const { sessionId } = await start("One");
    const messages = [{ role: "user", content: "Two" }];
    const waiting = await server.send("POST", "/api/chat", { sessionId, messages });
    open();
    const text = await waiting.text();
    expect(text).toContain("Re: Two");
    expect(text).not.toContain("Re: One");
  });

  it("of POST /v1/responses", async () => {
    const { server, open } = serve();
    const first = server.send("POST", "/v1/responses", { model: "helper", input: "One", background: true });
    const { id } = await (await first).json();
    const body = { model: "helper", input: "Two", previous_response_id: id };
    const waiting = server.send("POST", "/v1/responses", body);
    open();
    expect(JSON.stringify(await (await waiting).json())).toContain("Re: Two");
  });
});

it("the client follows a queued run from before its start to its end", async () => {
  const { server, open } = serve();
  const client = createClient({
    baseURL: "http://127.0.0.1",
    fetch: (...given) => server.fetch(new Request(...given)),
  });
  const { sessionId } = await client.runs.start({ input: "One" });
  const { runId } = await client.runs.start({ input: "Two", sessionId });
  expect((await client.runs.list({ sessionId }))[0]).toMatchObject({ runId, state: "queued", text: "Two" });
  const types: string[] = [];
  const reading = (async () => {
    for await (const event of client.runs.events(runId)) types.push(event.type);
  })();
  open();
  await reading;
  expect([types[0], types.at(-1)]).toEqual(["run_start", "done"]);
  expect((await client.runs.get(runId)).result?.text).toBe("Re: Two");
});
