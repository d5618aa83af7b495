import type { CallToolResult } from "@modelcontextprotocol/client";
import { type Agent, defineAgent, defineTool, type Entry } from "capstan";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { type ServeMcpOptions, serveMcp } from "./serve-mcp.ts";
import { connect, connectV1, type Era } from "./testing/connect.ts";
import { listenOnLoopback, type TestListener } from "./testing/listen.ts";

const eras: readonly Era[] = ["modern", "legacy"];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function serve(options: ServeMcpOptions): Promise<TestListener> {
  const listening = await listenOnLoopback(serveMcp(options));
  closing.push(listening.close);
  return listening;
}

async function connectClient({ url }: TestListener, era: Era, options = {}) {
  const client = await connect(url, era, options);
  closing.push(() => client.close());
  return client;
}

const weather = defineTool({
  name: "weather",
  description: "The weather in a city.",
  input: { city: { type: "string" } },
  effects: "none",
  execute: ({ city }) => `Rain in ${city}.`,
});

function agent(script: Script, definition: Partial<Parameters<typeof defineAgent>[0]> = {}): Agent {
  return defineAgent({ name: "helper", model: scriptedModel(script), ...definition });
}

const getUserTexts = (history: readonly Entry[]) =>
  history.flatMap((entry) => (entry.type === "user" ? [entry.content] : []));
const getResultText = ({ content }: CallToolResult) =>
  content.map((part) => ("text" in part ? part.text : "")).join("\n");

/** An answer as a client gets it. */
type Answer = { answer: string; status: string; turns: number; session: string; runId: string };
const getAnswer = (result: CallToolResult) => result.structuredContent as Answer;

describe.each(eras)("an agent for a client of the %s era", (era) => {
  it("is listed and queried, calls its tool and answers; the second call remembers the first (M1, S4-54, S4-55)", async () => {
    const helper = agent(
      ({ history }) => {
        const last = history.at(-1);
        if (last?.type === "result") return { text: `Take an umbrella: ${JSON.stringify(last.content)}` };
        if (getUserTexts(history).length > 1) return { text: `You asked: ${getUserTexts(history)[0]}` };
        return { calls: [{ name: "weather", input: { city: "Oslo" } }] };
      },
      { tools: [weather] },
    );
    const client = await connectClient(await serve({ agents: [helper] }), era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["query", "resume"]);
    expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });

    const first = await client.callTool({ name: "query", arguments: { prompt: "Rain?" } });
    expect(getResultText(first)).toContain("Take an umbrella");
    expect(first.structuredContent).toMatchObject({
      status: "done",
      turns: 2,
      tools: [{ name: "weather", status: "ok" }],
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    const { session: sessionId } = getAnswer(first);
    expect(sessionId.length).toBeGreaterThanOrEqual(22);
    const second = await client.callTool({ name: "query", arguments: { prompt: "What?", sessionId } });
    expect(getAnswer(second)).toMatchObject({ answer: "You asked: Rain?", session: sessionId });
  });

  it("answers in one turn without tools, and then offers no `resume` (M9, S4-57)", async () => {
    const client = await connectClient(await serve({ agents: [agent([{ text: "Hello." }])] }), era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["query"]);
    const result = await client.callTool({ name: "query", arguments: { prompt: "Hi" } });
    expect(getAnswer(result)).toMatchObject({ answer: "Hello.", status: "done", turns: 1 });
  });

  it("offers `resume` and is not marked read-only when its tools or handoffs are dynamic", async () => {
    const later = agent([], { tools: () => [weather] });
    const handing = agent([], { handoffs: [agent([], { name: "other", tools: [weather] })] });
    for (const helper of [later, handing]) {
      const client = await connectClient(await serve({ agents: [helper] }), era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["query", "resume"]);
      expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    }
  });

  it("at its limit lists the tools it used with a preview and ends with an answer from a result (M6, S4-20)", async () => {
    const helper = agent(
      (_, index) => ({ calls: [{ name: "weather", input: { city: `${"x".repeat(300)}${index}` } }] }),
      { tools: [weather], policy: { maxTurns: 2, onLimit: ["best-effort"] } },
    );
    const client = await connectClient(await serve({ agents: [helper] }), era);
    const result = await client.callTool({ name: "query", arguments: { prompt: "Rain?" } });
    expect(result.isError).toBeFalsy();
    expect(getAnswer(result).status).toBe("limit");
    expect(getResultText(result)).toMatch(/weather/);
    expect(getAnswer(result).answer.trim()).toMatch(/[.?!]$/);
    const [, list = "", best = ""] = getAnswer(result).answer.split("\n\n");
    expect(list).toMatch(/^What I found so far:\n- Used weather: .{100}…$/);
    expect(best).toMatch(/^Based on these results, my best answer is: .*x{300}0/);
  });

  it("reports each turn and tool call as growing progress", async () => {
    // The client forgets what comes in one piece with the answer.
    const script = [
      { calls: [{ name: "weather", input: { city: "Oslo" } }] },
      { text: "Rain.", delayMs: 100 },
    ];
    const helper = agent(script, { tools: [weather] });
    const client = await connectClient(await serve({ agents: [helper] }), era);
    const told: { progress: number; message?: string | undefined }[] = [];
    await client.callTool(
      { name: "query", arguments: { prompt: "Rain?" } },
      { onprogress: ({ progress, message }) => void told.push({ progress, message }) },
    );
    expect(told).toEqual([
      { progress: 1, message: "Turn 1" },
      { progress: 2, message: "calling weather" },
      { progress: 3, message: "Turn 2" },
    ]);
  });

  it("is cancelled with the request", async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<string>();
    const slow = defineTool({
      name: "slow",
      description: "Takes for ever.",
      input: {},
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          started.resolve();
          signal.addEventListener("abort", () => {
            ended.resolve("aborted");
            reject(signal.reason);
          });
        }),
    });
    const statuses: string[] = [];
    const listening = await serve({
      agents: [agent([{ calls: [{ name: "slow", input: {} }] }], { tools: [slow] })],
      onEvent: (event) => void (event.type === "done" && statuses.push(event.status)),
    });
    const client = await connectClient(listening, era);
    const controller = new AbortController();
    const call = client.callTool(
      { name: "query", arguments: { prompt: "Go" } },
      { signal: controller.signal },
    );
    await started.promise;
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow();
    expect(await ended.promise).toBe("aborted");
    await expect.poll(() => statuses).toEqual(["cancelled"]);
  });

  it("that fails returns an error result with the reason as text and data", async () => {
    const client = await connectClient(await serve({ agents: [agent([{ error: "model_auth" }])] }), era);
    const result = await client.callTool({ name: "query", arguments: { prompt: "Hi" } });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { status: "failed", error: { code: "model_auth" } },
    });
    expect(getResultText(result).length).toBeGreaterThan(10);
  });

  it("with a busy session returns an error", async () => {
    const hold = Promise.withResolvers<void>();
    const helper = agent([{ text: "first" }, { text: "second" }], {
      policy: { onBusy: "reject" },
      instructions: async () => {
        await hold.promise;
        return "";
      },
    });
    const client = await connectClient(await serve({ agents: [helper] }), era);
    const ask = { name: "query", arguments: { prompt: "Hi", sessionId: "one" } };
    const first = client.callTool(ask);
    await expect
      .poll(async () => getResultText(await client.callTool(ask)))
      .toMatch(/^session_busy: Session "one"/);
    hold.resolve();
    expect(getAnswer(await first).status).toBe("done");
  });

  it("that does not exist is refused with the names of the existing ones", async () => {
    const agents = [agent([]), agent([{ text: "me" }], { name: "other" })];
    const client = await connectClient(await serve({ agents }), era);
    const unknown = await client.callTool({ name: "query", arguments: { prompt: "Hi", agent: "nobody" } });
    expect(unknown.isError).toBe(true);
    expect(getResultText(unknown)).toBe('unknown_agent: Unknown agent "nobody". Agents: "helper", "other".');
    const other = await client.callTool({ name: "query", arguments: { prompt: "Hi", agent: "other" } });
    expect(getAnswer(other).answer).toBe("me");
  });
});

it('with `expose: "agents"` each agent is a tool with a valid MCP name', async () => {
  const agents = [agent([]), agent([{ text: "me" }], { name: "the other/one" })];
  const client = await connectClient(await serve({ agents, expose: "agents" }), "modern");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    "ask_helper",
    "ask_the_other_one",
  ]);
  const result = await client.callTool({ name: "ask_the_other_one", arguments: { prompt: "Hi" } });
  expect(getAnswer(result).answer).toBe("me");
});

it("agents with the same tool name are refused", () => {
  const agents = [agent([], { name: "a b" }), agent([], { name: "a.b" })];
  expect(() => serveMcp({ agents, expose: "agents" })).toThrow(/"a b" and "a\.b".*rename/);
  expect(() => serveMcp({ agents: [agent([]), agent([])] })).toThrow(/same name/);
  expect(() => serveMcp({ agents: [] })).toThrow(/at least one/);
});

it("knowledge is searched and fetched in the form that connectors expect, as data and as JSON", async () => {
  const users: (string | undefined)[] = [];
  const page = { id: "1", title: "Rain", url: "https://example.test/1", text: "It rains." };
  const knowledge = {
    search(query: string, { user }: { readonly user?: string }) {
      users.push(user);
      return query === "rain" ? [page] : [];
    },
    fetch: (id: string) => (id === "1" ? page : undefined),
  };
  const client = await connectClient(await serve({ agents: [agent([])], knowledge }), "legacy", {
    user: "ann",
  });
  const found = await client.callTool({ name: "search", arguments: { query: "rain" } });
  const { text: _, ...hit } = page;
  expect(found.structuredContent).toEqual({ results: [hit] });
  expect(JSON.parse(getResultText(found))).toEqual(found.structuredContent);
  expect(users).toEqual(["ann"]);
  const read = await client.callTool({ name: "fetch", arguments: { id: "1" } });
  expect(read.structuredContent).toEqual({ ...page, metadata: {} });
  const missing = await client.callTool({ name: "fetch", arguments: { id: "2" } });
  expect(missing.isError).toBe(true);
  expect(getResultText(missing)).toMatch(/^not_found: /);
});

it("a client of SDK v1 is served too", async () => {
  const { url } = await serve({ agents: [agent([{ text: "Hello." }])] });
  const client = await connectV1(url);
  closing.push(() => client.close());
  const result = await client.callTool({ name: "query", arguments: { prompt: "Hi" } });
  expect(result.structuredContent).toMatchObject({ answer: "Hello." });
});

it.each(
  eras,
)("a session belongs to its user: its id is another session for another (A59, %s)", async (era) => {
  const helper = agent(({ history }) => ({ text: getUserTexts(history).join("|") }));
  const listening = await serve({ agents: [helper] });
  const ann = await connectClient(listening, era, { user: "ann" });
  const bob = await connectClient(listening, era, { user: "bob" });
  const { session: sessionId } = getAnswer(
    await ann.callTool({ name: "query", arguments: { prompt: "secret" } }),
  );
  const ask = { name: "query", arguments: { prompt: "what?", sessionId } };
  expect(getAnswer(await bob.callTool(ask)).answer).toBe("what?");
  expect(getAnswer(await ann.callTool(ask)).answer).toBe("secret|what?");
  const odd = await ann.callTool({ name: "query", arguments: { prompt: "x", sessionId: "../../etc" } });
  expect(getResultText(odd)).toMatch(/^invalid_input: /);
});

it.each(eras)("credentials reach neither context nor tools (A57, %s)", async (era) => {
  const seen: unknown[] = [];
  const spy = defineTool({
    name: "spy",
    description: "Looks at all it is given.",
    input: {},
    execute(_, context) {
      seen.push(context.context, JSON.stringify(context));
      return "ok";
    },
  });
  const helper = agent([{ calls: [{ name: "spy", input: {} }] }, { text: "ok" }], { tools: [spy] });
  const service = serveMcp({ agents: [helper] });
  const listening = await listenOnLoopback({
    fetch: (request) => {
      expect(request.headers.get("authorization")).toBe("Bearer hunter2-token");
      return service.fetch(request, { user: "ann" });
    },
    close: service.close,
  });
  closing.push(listening.close);
  const headers = { authorization: "Bearer hunter2-token", cookie: "session=hunter2-cookie" };
  const client = await connectClient(listening, era, { headers });
  const { session: sessionId } = getAnswer(
    await client.callTool({ name: "query", arguments: { prompt: "Look" } }),
  );
  expect(seen[0]).toEqual({ user: "ann", sessionId });
  expect(JSON.stringify(seen)).not.toContain("hunter2");
});
