import { defineAgent, defineTool, isFact, type Store } from "capstan";
import {
  buildView,
  type Client,
  type ConnectionState,
  createClient,
  type Fetch,
  type Health,
  type RunDetails,
  type StartedRun,
} from "capstan/client";
import { memory } from "capstan/stores/memory";
import { fakeClock, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, expectTypeOf, it } from "vitest";
import { createServer, type ServerOptions } from "./create-server.ts";
import { type ListeningServer, listen } from "./listen.ts";
import { agentRoutes } from "./routes/agents.ts";
import { runListRoutes } from "./routes/run-list.ts";
import { runAnswerRoutes, runEventRoutes, runRoutes } from "./routes/runs.ts";
import { sessionCopyRoutes, sessionEventRoutes, sessionRoutes } from "./routes/sessions.ts";
import { signInRoutes } from "./routes/sign-in.ts";
import { healthRoutes } from "./routes/system.ts";
import type { StartedRun as ServerStartedRun } from "./runs/start-run.ts";
import { createHelloAgent } from "./testing/hello-agent.ts";
import { createSlowAgent } from "./testing/slow-agent.ts";
import { createTestServer, type TestServer } from "./testing/test-server.ts";
import type { RunView } from "./views/run-view.ts";

const open: ListeningServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

async function serve(
  options: Partial<ServerOptions> = {},
  port = 0,
): Promise<{ listening: ListeningServer; client: Client }> {
  const server = createServer({ agents: [createSlowAgent(() => undefined)], ...options });
  const listening = await listen(server, { port });
  open.push(listening);
  return { listening, client: createClient({ baseURL: listening.url }) };
}

const inTime = { timeout: 30_000, interval: 10 };
const toInput = (...plan: object[]) => ({ input: JSON.stringify(plan) });

async function collectEvents<Item>(events: AsyncIterable<Item>): Promise<Item[]> {
  const heard: Item[] = [];
  for await (const event of events) heard.push(event);
  return heard;
}

describe("the client and the server", () => {
  it("mean the same by their answers", () => {
    expectTypeOf<RunView>().toEqualTypeOf<RunDetails>();
    expectTypeOf<Omit<ServerStartedRun, "isNew">>().toExtend<StartedRun>();
    expectTypeOf<Health["status"]>().toEqualTypeOf<"ok" | "draining">();
  });

  it("have a method for each route, and a route for each method", async () => {
    const asked: string[] = [];
    const stop = new AbortController();
    const fetch: Fetch = async (url, { method = "GET" }) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      if (asked.filter((request) => request.endsWith("/events")).length === 4) stop.abort();
      const headers = { "content-type": "text/event-stream" };
      if (asked.at(-1)?.endsWith("/events")) return new Response(new ReadableStream(), { headers });
      return Response.json({ runs: [], sessions: [], agents: [] });
    };
    const client = createClient({ baseURL: "http://127.0.0.1:1", fetch });
    const { runs, sessions, agents } = client;
    const { signal } = stop;
    await Promise.all([
      ...[client.health(), client.signIn({ key: "k" }), client.signOut()],
      ...[agents.list(), agents.get("a"), agents.save({ format: 1, name: "a" }, 0), agents.remove("a", 1)],
      ...[agents.versions("a"), agents.restore("a", 1, 2)],
      ...[sessions.list(), sessions.search("w"), sessions.create(), sessions.get("s")],
      ...[sessions.rename("s", "t"), sessions.remove("s"), sessions.fork("s", 1), sessions.compact("s")],
      ...[sessions.export("s", "json"), sessions.import("{}"), sessions.page("s")],
      ...[runs.start({ input: "i" }), runs.get("r"), runs.list(), runs.cancel("r"), runs.steer("r", "t")],
      ...[runs.approve("r", "c"), runs.deny("r", "c"), runs.answer("r", "c", 1), runs.retry("r")],
      ...[runs.cancelBackground("r", "c"), runs.previewCall("r", "c")],
      ...[collectEvents(runs.events("r", { signal })), collectEvents(sessions.events("s", { signal }))],
      ...[client.listRuns(), client.summarizeRuns(), client.sendFeedback("r", {})],
      collectEvents(runs.viewEvents("r", "chat", { signal })),
      collectEvents(sessions.viewEvents("s", "chat", { signal })),
    ]);
    const known = [
      ...[...agentRoutes, ...sessionRoutes, ...sessionCopyRoutes, ...sessionEventRoutes],
      ...[
        ...runListRoutes,
        ...runRoutes,
        ...runEventRoutes,
        ...runAnswerRoutes,
        ...healthRoutes,
        ...signInRoutes,
      ],
    ].map(({ method, path }) => `${method} ${path}`);
    const findRoute = (request: string) =>
      known.find((route) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(request)) ??
      request;
    // A page links to these files, and balancers ask for the state of the server.
    const left = ["GET /api/sessions/{sessionId}/blobs/{handle}", "GET /healthz", "GET /readyz"];
    expect([...new Set(asked.map(findRoute)), ...left].sort()).toEqual(known.sort());
  });

  it("keep sessions: made, found, renamed, forked, exported, imported and removed", async () => {
    const { client } = await serve();
    const { sessions, runs } = client;
    const empty = await sessions.create({ title: "Empty" });
    expect(empty).toMatchObject({ title: "Empty", facts: 0, runs: [] });
    const { runId, sessionId } = await runs.start(toInput({ say: "A zebra.", call: "look" }));
    const heard = await collectEvents(runs.events(runId));
    await sessions.rename(sessionId, "Animals");
    expect(await sessions.get(sessionId)).toMatchObject({
      title: "Animals",
      runs: [{ runId, status: "done" }],
    });
    expect((await sessions.list()).map(({ id }) => id).sort()).toEqual([empty.id, sessionId].sort());
    expect(await sessions.list({ most: 1 })).toHaveLength(1);
    expect(await sessions.search("zebra")).toMatchObject([{ id: sessionId, title: "Animals" }]);
    const fork = await sessions.fork(sessionId, 2, { title: "Again" });
    expect(fork).toMatchObject({ title: "Again", facts: expect.any(Number) });
    expect(await sessions.export(sessionId, "markdown")).toContain("A zebra.");
    const copy = await sessions.import(await sessions.export(sessionId, "json"));
    expect(copy.id).not.toBe(sessionId);
    expect(copy.facts).toBe(heard.filter(isFact).length);
    await sessions.remove(sessionId);
    await expect(sessions.get(sessionId)).rejects.toMatchObject({ code: "not_found" });
  });

  it("stores agents", async () => {
    const { client } = await serve({ storedAgents: { models: [scriptedModel([], { id: "m" })] } });
    const data = { format: 1, name: "helper", description: "Helps.", model: "m" } as const;
    const saved = await client.agents.save(data, 0);
    expect(saved).toMatchObject({ name: "helper", source: "user", version: 1, models: ["m"], data });
    await expect(client.agents.save(data, 0)).rejects.toMatchObject({ code: "position_conflict" });
    await client.agents.save({ ...data, description: "Helps more." }, 1);
    expect(await client.agents.get("helper", 1)).toMatchObject({ description: "Helps." });
    expect((await client.agents.list()).map(({ name, source }) => [name, source])).toEqual([
      ["slow", "coded"],
      ["helper", "user"],
    ]);
    await client.agents.remove("helper", 2);
    await expect(client.agents.get("helper")).rejects.toMatchObject({ code: "unknown_agent" });
  });

  it("tell who may not ask, and who is not there", async () => {
    const { listening, client } = await serve({ apiKey: "a-key-that-is-long-enough-to-be-good" });
    await expect(client.runs.list()).rejects.toMatchObject({ code: "unauthorized" });
    await expect(client.runs.events("r").next()).rejects.toMatchObject({ code: "unauthorized" });
    const known = createClient({ baseURL: listening.url, key: "a-key-that-is-long-enough-to-be-good" });
    expect(await known.runs.list()).toEqual([]);
    await expect(known.runs.get("r")).rejects.toMatchObject({ code: "unknown_run" });
    await expect(known.runs.events("r").next()).rejects.toMatchObject({ code: "unknown_run" });
    await listening.close(0);
    const away = createClient({ baseURL: listening.url, retries: 0 });
    await expect(away.health()).rejects.toMatchObject({ code: "server_unreachable" });
  });
});

describe("a reader of a server that shuts down", () => {
  /** Serves the same store again, on the same port. */
  async function replace(listening: ListeningServer, store: Store): Promise<void> {
    await listening.close(2000);
    await serve({ store }, listening.port);
  }

  it("is notified, and continues with the next server, without a duplicate fact (F82)", async () => {
    const store = memory();
    const { listening, client } = await serve({ store });
    const turn = { say: "one two three four five six ", call: "look" };
    const { runId, sessionId } = await client.runs.start(toInput(turn, turn, turn, turn));
    const states: ConnectionState[] = [];
    const listened = collectEvents(client.runs.events(runId, { onState: (state) => states.push(state) }));
    await expect.poll(() => states, inTime).toContainEqual({ type: "open" });
    await replace(listening, store);
    const heard = await listened;
    const stored = await store.read(sessionId);
    expect(heard.filter(isFact)).toEqual(stored);
    expect(buildView(heard)).toEqual(buildView(stored));
    expect(heard.at(-1)).toMatchObject({ type: "done", status: "done" });
    const [lost] = states.filter((state) => state.type === "lost");
    expect(lost?.error.code).toBe("draining");
  });
});

describe("a watched session of a server", () => {
  it("steers the active run with a message, and shows it as every client sees it", async () => {
    const { client } = await serve();
    const { id } = await client.sessions.create();
    const watch = client.watch(id);
    const say = "one two three four five ".repeat(10);
    await watch.send(toInput({ say, call: "look" }, { call: "look" }).input);
    await expect.poll(() => watch.view().live.text, inTime).toMatch(/^one/);
    await watch.send("Faster!", { policy: { onBusy: "steer" } });
    await expect.poll(() => watch.view().status, inTime).toBe("done");
    const [run] = await client.runs.list({ sessionId: id });
    const facts = (await collectEvents(client.runs.events(run?.runId ?? ""))).filter(isFact);
    expect(watch.view()).toEqual(buildView(facts));
    expect(facts.filter(({ type }) => type === "steered")).toHaveLength(1);
    watch.close();
  });

  it("can request less streamed text", async () => {
    const { client } = await serve();
    const { runId } = await client.runs.start(toInput({ say: "one two three ", call: "look" }));
    const heard = await collectEvents(client.runs.events(runId, { stream: "final" }));
    const texts = heard.flatMap((event) => (event.type === "content_delta" ? event.delta : []));
    expect(texts).toEqual(["Done: seen"]);
  });

  it("follow a view of the events across lost connections, and know when it has ended", async () => {
    const made = createTestServer({ agents: [createSlowAgent(() => undefined)] });
    let maxBytes = Number.POSITIVE_INFINITY;
    let connections = 0;
    const fetch: Fetch = async (url, { headers, ...init }) => {
      const request = new Request(url, { ...init, headers: { ...(headers as object), host: "127.0.0.1" } });
      const response = await made.fetch(request);
      if (!response.ok || !new URL(url).pathname.endsWith("/events")) return response;
      connections++;
      return new Response((await response.text()).slice(0, maxBytes), response);
    };
    const options = { baseURL: "http://127.0.0.1", fetch, clock: fakeClock({ skipUpToMs: 10_000 }) };
    const client = createClient(options);
    const { runId } = await client.runs.start(
      toInput({ say: "one two three ", call: "look" }, { say: "Four." }),
    );
    for await (const _ of client.runs.events(runId));
    const whole = await collectEvents(client.runs.viewEvents(runId, "chat"));
    expect(whole.map(({ event }) => event)).toEqual([
      ...["content_delta", "tool_call_start", "tool_call_result", "content_delta", "done"],
    ]);
    connections = 0;
    maxBytes = 120;
    expect(await collectEvents(client.runs.viewEvents(runId, "chat"))).toEqual(whole);
    expect(connections).toBeGreaterThan(3);
    const after = whole.at(-2)?.id ?? "";
    expect(await collectEvents(client.runs.viewEvents(runId, "chat", { after }))).toEqual(whole.slice(-1));
    await expect(client.runs.viewEvents(runId, "chatt").next()).rejects.toThrow('Available views: "chat".');
    await made.close(0);
  });

  it("has a client-side tool answered by the page that shows it (S0-50, C-28)", async () => {
    const model = scriptedModel([{ calls: [{ name: "map", input: { to: "Oslo" } }] }, { text: "There." }]);
    const input = { to: { type: "string" } } as const;
    const map = defineTool({ name: "map", description: "Moves the map", input });
    const { client } = await serve({ agents: [defineAgent({ name: "guide", model, tools: [map] })] });
    const [agent] = await client.agents.list();
    expect(agent?.tools).toMatchObject([{ name: "map", isClientSide: true }]);
    const { id } = await client.sessions.create();
    const watch = client.watch(id);
    await watch.send("Where is it?");
    await expect.poll(() => watch.view().pending, inTime).toHaveLength(1);
    const { runId = "", pending } = watch.view();
    expect(pending).toMatchObject([{ name: "map", needs: "answer" }]);
    await client.runs.answer(runId, pending[0]?.callId ?? "", { shown: "Oslo" });
    await expect.poll(() => watch.view().status, inTime).toBe("done");
    expect(model.requests.at(-1)?.history.at(-1)).toMatchObject({
      type: "result",
      content: '{"shown":"Oslo"}',
    });
    watch.close();
  });
});

let server: TestServer | undefined;
afterEach(() => server?.close(0));

it("the client has a method for each thing that a studio shows", async () => {
  const made = createTestServer({ agents: [createHelloAgent()], models: ["openai/gpt-5-mini"] });
  server = made;
  const client = createClient({
    baseURL: "http://127.0.0.1",
    fetch: (url, { headers, ...init }) =>
      made.fetch(new Request(url, { ...init, headers: { ...(headers as object), host: "127.0.0.1" } })),
  });
  expect((await client.about()).agents).toEqual([{ name: "helper" }]);
  expect((await client.agentParts()).tools).toEqual([]);
  expect((await client.models.list()).find(({ isOffered }) => isOffered)?.model).toBe("openai/gpt-5-mini");
  expect(await client.mcp.list()).toEqual([]);
  expect(await client.mcp.refresh()).toEqual([]);
  await expect(client.mcp.trust("none")).rejects.toMatchObject({ code: "not_found" });

  const { runId, sessionId } = await client.runs.start({ input: "Hi" });
  for await (const _ of client.runs.events(runId));
  expect((await client.runs.turn(runId, 1, { wire: "openai-chat" })).body).toMatchObject({ stream: true });
  expect(await client.runs.messages(runId)).toHaveLength(2);
  const again = await client.runs.rerun(runId, { policy: { maxTurns: 1 } });
  for await (const _ of client.runs.events(again.runId));
  expect(await client.runs.difference(runId, again.runId)).toMatchObject({ isSame: true });
  expect((await client.sessions.get(sessionId)).forks).toMatchObject([{ sessionId: again.sessionId, at: 0 }]);
  expect((await client.sessions.get(again.sessionId)).origin).toEqual({ sessionId, at: 0 });
});
