import { type Agent, agentTool, defineAgent, defineTool, type Event, type Store, type Tool } from "capstan";
import { compatible } from "capstan/models/compatible";
import { session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ListeningServer, listen } from "./listen.ts";
import { type ModelReply, type ModelServer, startModelServer } from "./testing/model-server.ts";
import {
  createA2a,
  createAgUi,
  createChat,
  createChatCompletions,
  createMcp,
  createMessages,
  createOwn,
  createResponses,
  createUiChat,
  joinText,
  type StoppingClient,
} from "./testing/stopping-clients.ts";
import { createTestServer, type TestServer } from "./testing/test-server.ts";

const beginning = "Once upon a time there was";
const polling = { timeout: 30_000, interval: 5 };

let store: Store;
let model: ModelServer;
let text: PromiseWithResolvers<void>;
const open: ListeningServer[] = [];

/** Answers to messages that contain a word: a story never ends. */
const replies: Record<string, ModelReply | undefined> = { story: { text: beginning, isOpen: true } };

beforeEach(async () => {
  store = memory();
  text = Promise.withResolvers();
  model = await startModelServer((messages) => {
    const last = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
    const word = Object.keys(replies).find((known) => last.includes(known));
    return word === undefined ? { text: "It is noon." } : replies[word];
  });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
  await model.close();
});

function createAgent(tools: readonly Tool[] = [], name = "helper"): Agent {
  const policy = { gate: "off", modelRetry: { attempts: 1 } } as const;
  return defineAgent({ name, model: compatible({ baseURL: model.url, model: "m" }), tools, policy });
}

type Served = { readonly server: TestServer; readonly url: string };

async function serve(agent = createAgent()): Promise<Served> {
  const onEvent = ({ type }: Event) => {
    if (type === "content_delta") text.resolve();
  };
  const server = createTestServer({ agents: [agent], store, onEvent });
  const listening = await listen(server, { port: 0 });
  open.push(listening);
  return { server, url: listening.url };
}

/** Waits until the server has noticed which clients have disconnected. */
async function waitForStreams(server: TestServer, count: number): Promise<void> {
  const readMetrics = async () => (await server.send("GET", "/metrics")).text();
  const isCounted = async () => (await readMetrics()).includes(`capstan_open_streams ${count}\n`);
  await vi.waitUntil(isCounted, polling);
}

type CreateClient = (url: string) => StoppingClient;

const clients: readonly (readonly [name: string, create: CreateClient])[] = [
  ["useChat, whose stop button calls the stop route", (url) => createUiChat(url)],
  ["useChat, to which a disconnect is a stop", (url) => createUiChat(url, "query")],
  ["AG-UI, whose stop button calls the stop route", (url) => createAgUi(url)],
  ["AG-UI, to which a disconnect is a stop", (url) => createAgUi(url, "query")],
  ["OpenAI chat completions", createChatCompletions],
  ["OpenAI Responses", createResponses],
  ["Anthropic Messages", createMessages],
  ["A2A", createA2a],
  ["MCP", (url) => createMcp(url, () => text.promise)],
  ["the client of Capstan", createOwn],
];

/** Checks that the next message is answered, and that the model and the client have the partial answer once. */
async function checkNextMessage(client: StoppingClient): Promise<void> {
  expect(await client.ask("What time is it?")).toBe("It is noon.");
  await vi.waitUntil(() => model.countOpen() === 0, polling);
  expect(model.requests).toHaveLength(2);
  expect(JSON.stringify(model.requests[1]).split(beginning)).toHaveLength(2);
  if (client.listTexts)
    expect(client.listTexts()).toEqual(["Tell a story.", beginning, "What time is it?", "It is noon."]);
}

it.each(
  clients,
)("%s: stop ends the model call and keeps the partial answer; the next message is answered", async (_, create) => {
  const { url } = await serve();
  const client = create(url);
  await client.begin("Tell a story.");
  expect(model.countOpen()).toBe(1);
  await client.stop();
  await vi.waitUntil(() => model.countOpen() === 0, polling);
  await checkNextMessage(client);
});

it.each([
  ["useChat", (url: string) => createUiChat(url, "disconnect")],
  ["AG-UI", (url: string) => createAgUi(url, "disconnect")],
] as const)("%s: a client that only disconnects continues its run, which its next message ends", async (_, create) => {
  const { url } = await serve();
  const client = create(url);
  await client.begin("Tell a story.");
  await client.stop();
  expect(model.countOpen()).toBe(1);
  await checkNextMessage(client);
});

it("a client that reconnects continues to read its run, and a page that is reloaded does not stop it", async () => {
  const { url, server } = await serve();
  const api = `${url}/api/ui/chat?onDisconnect=stop`;
  const [before, after] = [createChat("chat-1", api), createChat("chat-1", api)];
  void before.sendMessage({ text: "Tell a story." });
  await text.promise;
  void after.resumeStream();
  await vi.waitUntil(() => after.lastMessage && joinText(after.lastMessage) === beginning, polling);
  await before.stop();
  await waitForStreams(server, 1);
  expect(model.countOpen()).toBe(1);
  await after.stop();
  await vi.waitUntil(() => model.countOpen() === 0, polling);
});

it("a message that is sent again after its client has left does not end its own run", async () => {
  const { url } = await serve();
  const body = JSON.stringify({
    threadId: "t",
    runId: "r",
    messages: [{ role: "user", content: "A story." }],
  });
  const post = { method: "POST", headers: { "content-type": "application/json" }, body };
  const leaving = new AbortController();
  const first = await fetch(`${url}/ag-ui`, { ...post, signal: leaving.signal });
  leaving.abort();
  await vi.waitUntil(async () => (await store.listRecords("abandoned")).length > 0, polling);
  const again = await fetch(`${url}/ag-ui`, post);
  expect(again.headers.get("x-run-id")).toBe(first.headers.get("x-run-id"));
  expect(await store.listRecords("abandoned")).toEqual([]);
  await vi.waitUntil(() => model.countOpen() === 1, polling);
  expect(model.requests).toHaveLength(1);
  await again.body?.cancel();
});

it("a message of a client that still reads the answer waits for it instead of ending it", async () => {
  const { url, server } = await serve();
  const client = createUiChat(url);
  await client.begin("Tell a story.");
  const messages = [{ role: "user", parts: [{ type: "text", text: "What time is it?" }] }];
  const next = await server.send("POST", "/api/ui/chat", { id: "chat-1", messages });
  expect(model.countOpen()).toBe(1);
  expect(model.requests).toHaveLength(1);
  await client.stop();
  expect(await next.text()).toContain("It is noon.");
});

describe("a stop", () => {
  const stop = ({ server }: Served, body?: object, headers?: Record<string, string>) =>
    server.send("POST", "/api/ui/chat/chat-1/stop", body, headers);
  const loadRuns = async () => {
    const [{ id = "" } = {}] = await store.list();
    return store.listRuns(id);
  };
  const loadHistory = async () => {
    const [{ id = "" } = {}] = await store.list();
    return session(store, id).history();
  };

  it("twice, or after the end, changes nothing, and names the answer that it means", async () => {
    const served = await serve();
    const client = createUiChat(served.url);
    await client.begin("Tell a story.");
    const messageId = client.chat.lastMessage?.id;
    const [one, two] = await Promise.all([stop(served), stop(served)]);
    expect([one.status, two.status, (await stop(served)).status]).toEqual([200, 200, 200]);
    expect((await loadHistory()).map(({ type }) => type)).toEqual(["user", "assistant"]);
    // Arrives after the next message, whose answer continues.
    await vi.waitUntil(() => client.chat.status === "ready", polling);
    await client.begin("Another story.");
    expect((await stop(served, { messageId })).status).toBe(200);
    expect((await loadRuns()).map(({ state }) => state)).toEqual(["ended", "active"]);
    expect(model.countOpen()).toBe(1);
    await client.stop();
  });

  it("of a chat that does not exist, or of another user, is not found", async () => {
    const served = await serve();
    const keys = await Promise.all(["ada", "bob"].map((user) => served.server.keys.create({ user })));
    const [ada, bob] = keys.map(({ secret }) => ({ authorization: `Bearer ${secret}` }));
    const [story, hello] = ["Tell a story.", "Hello."].map((said) => [
      { role: "user", parts: [{ type: "text", text: said }] },
    ]);
    const body = { id: "chat-1", messages: story };
    const response = await served.server.send("POST", "/api/ui/chat", body, ada);
    await text.promise;
    const runId = response.headers.get("x-run-id") ?? "";
    const refused = await stop(served, { messageId: runId }, bob);
    expect(refused.status).toBe(404);
    expect((await refused.json()).error).toMatchObject({
      code: "not_found",
      message: 'Nothing to stop: there is no conversation "chat-1".',
    });
    // With a chat of the same name, Bob can only stop his own.
    await (await served.server.send("POST", "/api/ui/chat", { id: "chat-1", messages: hello }, bob)).text();
    expect((await stop(served, { messageId: runId }, bob)).status).toBe(200);
    expect((await store.findRun(runId))?.state).toBe("active");
    const evil = { ...ada, origin: "https://evil.example" };
    expect((await stop(served, undefined, evil)).status).toBe(403);
    expect((await stop(served, undefined, ada)).status).toBe(200);
    await vi.waitUntil(() => model.countOpen() === 0, polling);
    const agUi = await served.server.send("POST", "/ag-ui/none/stop", {}, ada);
    expect(agUi.status).toBe(404);
  });

  it("in another process on the same store ends the run too", async () => {
    const { url } = await serve();
    const other = await serve();
    const client = createUiChat(url);
    await client.begin("Tell a story.");
    expect((await stop(other)).status).toBe(200);
    await vi.waitUntil(() => model.countOpen() === 0, polling);
    await checkNextMessage(client);
  });

  it("aborts a tool call; one that ignores it is reported as interrupted", async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const pay = defineTool({
      ...{ name: "pay", description: "Pays.", input: {}, effects: "send" },
      execute: (_, { signal }) => {
        started.resolve(signal);
        return new Promise(() => undefined);
      },
    });
    replies.pay = { calls: [{ name: "pay", input: {} }] };
    const served = await serve(createAgent([pay]));
    const client = createUiChat(served.url);
    void client.chat.sendMessage({ text: "Please pay." });
    const signal = await started.promise;
    expect((await stop(served)).status).toBe(200);
    expect(signal.aborted).toBe(true);
    expect((await loadHistory()).at(-1)).toMatchObject({
      ...{ type: "result", name: "pay", status: "interrupted" },
      content: expect.stringContaining("may or may not have taken effect"),
    });
    await client.chat.stop();
    expect(await client.ask("What time is it?")).toBe("It is noon.");
  });

  it("skips a call that waits for approval", async () => {
    const pay = defineTool({
      ...{ name: "pay", description: "Pays.", input: {}, needsApproval: true },
      execute: () => "Paid.",
    });
    replies.pay = { calls: [{ name: "pay", input: {} }] };
    const served = await serve(createAgent([pay]));
    const client = createUiChat(served.url);
    await client.chat.sendMessage({ text: "Please pay." });
    expect((await loadRuns()).map(({ state }) => state)).toEqual(["waiting"]);
    expect((await stop(served)).status).toBe(200);
    expect((await loadHistory()).at(-1)).toMatchObject({ type: "result", status: "skipped" });
    expect(await client.ask("What time is it?")).toBe("It is noon.");
  });

  it("ends the model call of a nested run, whose answer is reported as interrupted", async () => {
    replies.scout = { calls: [{ name: "ask", input: { prompt: "Tell a story." } }] };
    const scout = agentTool(createAgent([], "scout"), { name: "ask", description: "Asks." });
    const served = await serve(createAgent([scout]));
    const client = createUiChat(served.url);
    void client.chat.sendMessage({ text: "Ask the scout." });
    await text.promise;
    expect(model.countOpen()).toBe(1);
    expect((await stop(served)).status).toBe(200);
    await vi.waitUntil(() => model.countOpen() === 0, polling);
    await client.chat.stop();
    expect(await client.ask("What time is it?")).toBe("It is noon.");
    expect((await loadHistory())[2]).toMatchObject({ name: "ask", status: "interrupted" });
  });

  it("ends a run that waits for its provider", async () => {
    replies.outage = undefined;
    const served = await serve();
    const client = createUiChat(served.url);
    void client.chat.sendMessage({ text: "During the outage." });
    await vi.waitUntil(async () => {
      const [run] = await loadRuns();
      return run && (await session(store, run.sessionId).facts()).some(({ type }) => type === "waiting");
    }, polling);
    expect((await stop(served)).status).toBe(200);
    expect((await loadRuns()).map(({ state }) => state)).toEqual(["ended"]);
    await client.chat.stop();
    expect(await client.ask("What time is it?")).toBe("It is noon.");
  });
});

it("a server that shuts down stops nothing: its runs continue elsewhere", async () => {
  const { server } = await serve();
  const messages = [{ role: "user", parts: [{ type: "text", text: "Tell a story." }] }];
  const answers = await Promise.all([
    server.send("POST", "/api/ui/chat", { id: "1", messages }),
    server.send("POST", "/api/ui/chat?onDisconnect=stop", { id: "2", messages }),
    server.send("POST", "/v1/responses", { model: "helper", input: "Tell a story.", stream: true }),
  ]);
  await vi.waitUntil(() => model.countOpen() === 3, polling);
  await server.close(0);
  // As when the connections of slow readers are closed.
  await Promise.all(answers.map(({ body }) => body?.cancel()));
  for (let count = 0; count < 50; count++) await new Promise(setImmediate); // the store is in memory
  for (const { id } of await store.list())
    expect((await store.read(id)).map(({ type }) => type)).toEqual(["run_start", "turn_start"]);
  expect(await store.listRecords("abandoned")).toEqual([]);
});

describe("a response of OpenAI's API whose client disconnects", () => {
  it.each([
    ["in the background", { background: true }, {}],
    ["of a request that can be repeated", {}, { "idempotency-key": "k" }],
  ])("continues %s", async (_, fields, headers) => {
    const { server, url } = await serve();
    const body = JSON.stringify({ model: "helper", input: "Tell a story.", stream: true, ...fields });
    const leaving = new AbortController();
    const post = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
    const response = await fetch(`${url}/v1/responses`, { ...post, signal: leaving.signal });
    await response.body?.getReader().read();
    await text.promise;
    leaving.abort();
    await waitForStreams(server, 0);
    expect(model.countOpen()).toBe(1);
  });
});
