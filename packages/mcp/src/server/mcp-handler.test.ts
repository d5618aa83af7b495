import { ChildProcess } from "node:child_process";
import { McpServer } from "@modelcontextprotocol/server";
import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { measureDepth } from "./check-request.ts";
import { type McpHandler, mcpHandler } from "./mcp-handler.ts";
import { serveMcp } from "./serve-mcp.ts";
import { connect, connectV1, type Era } from "./testing/connect.ts";
import { listenOnLoopback } from "./testing/listen.ts";

const eras: readonly Era[] = ["modern", "legacy"];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A handler whose one tool says whose it is. */
function createMarkedHandler(options = {}): McpHandler {
  const handler = mcpHandler(({ user }) => {
    const server = new McpServer({ name: "marked", version: "1" });
    server.registerTool("whoami", { description: "Says who asks." }, () => ({
      content: [{ type: "text", text: user ?? "nobody" }],
    }));
    return server;
  }, options);
  closing.push(handler.close);
  return handler;
}

type Asked = {
  readonly session?: string | null;
  readonly user?: string;
  readonly headers?: Record<string, string>;
};

const version = "2025-11-25";
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const callWho = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "whoami", arguments: {} } };

/** A request as it stands on the wire. */
function post(handler: McpHandler, body: unknown, { session, user, headers }: Asked = {}): Promise<Response> {
  const request = new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session && { "mcp-session-id": session, "mcp-protocol-version": version }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return handler.fetch(request, user === undefined ? {} : { user });
}

async function startSession(handler: McpHandler, user?: string): Promise<string> {
  const response = await post(handler, initialize, user === undefined ? {} : { user });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

describe("a session of the 2025 era (A59)", () => {
  it("has an id of at least 128 random bits, another for each", async () => {
    const handler = createMarkedHandler();
    const ids = await Promise.all(Array.from({ length: 20 }, () => startSession(handler)));
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(Buffer.from(id, "base64url").length).toBeGreaterThanOrEqual(16);
  });

  it("does not exist for other users, in any method", async () => {
    const handler = createMarkedHandler();
    const session = await startSession(handler, "ann");
    const own = await post(handler, callWho, { session, user: "ann" });
    expect(await own.text()).toContain("ann");
    for (const other of [{ user: "bob" }, {}]) {
      const stolen = await post(handler, callWho, { session, ...other });
      expect(stolen.status).toBe(404);
      expect(await stolen.json()).toMatchObject({ error: { data: { name: "session_not_found" } } });
      for (const method of ["GET", "DELETE"]) {
        const headers = { "mcp-session-id": session, accept: "text/event-stream" };
        const answer = await handler.fetch(new Request("http://127.0.0.1/mcp", { method, headers }), other);
        expect(answer.status).toBe(404);
      }
    }
    expect((await post(handler, callWho, { session, user: "ann" })).status).toBe(200);
  });

  it("is started by `initialize` only, never by an id that the client chooses", async () => {
    const handler = createMarkedHandler();
    expect((await post(handler, callWho)).status).toBe(400);
    expect((await post(handler, callWho, { session: "guessed" })).status).toBe(404);
    expect((await post(handler, initialize, { session: "mine" })).status).toBe(404);
    const small = createMarkedHandler({ maxSessions: 1 });
    const refused = await post(small, initialize, { headers: { accept: "text/html" } });
    expect([refused.status, refused.headers.get("mcp-session-id")]).toEqual([406, null]);
    expect((await post(small, initialize)).status).toBe(200);
  });

  it("is evicted when it was idle longest, but never while in use", async () => {
    const handler = createMarkedHandler({ maxSessions: 2 });
    const [first, second] = [await startSession(handler), await startSession(handler)];
    const headers = { "mcp-session-id": first, accept: "text/event-stream", "mcp-protocol-version": version };
    const stream = await handler.fetch(new Request("http://127.0.0.1/mcp", { headers }));
    expect(stream.status).toBe(200);
    const third = await startSession(handler);
    expect((await post(handler, callWho, { session: second })).status).toBe(404);
    const listening = await handler.fetch(
      new Request("http://127.0.0.1/mcp", { headers: { ...headers, "mcp-session-id": third } }),
    );
    const refused = await post(handler, initialize);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { data: { name: "too_many_sessions" } } });
    await Promise.all([stream.body?.cancel(), listening.body?.cancel()]);
    expect((await post(handler, initialize)).status).toBe(200);
  });

  it("ends when it was idle too long, or its client closes it", async () => {
    const handler = createMarkedHandler({ sessionIdleMs: 500 });
    const session = await startSession(handler);
    const use = async () => {
      const answer = await post(handler, callWho, { session });
      await answer.text();
      return answer.status;
    };
    await expect.poll(use, { interval: 1_000 }).toBe(404);

    const other = createMarkedHandler();
    const ended = await startSession(other);
    const headers = { "mcp-session-id": ended, "mcp-protocol-version": version };
    const request = new Request("http://127.0.0.1/mcp", { method: "DELETE", headers });
    expect((await other.fetch(request)).status).toBe(200);
    expect((await post(other, callWho, { session: ended })).status).toBe(404);
  });

  it("resumes after a disconnect from the last event, without duplicates (F66)", async () => {
    const release = Promise.withResolvers<void>();
    const handler = mcpHandler(() => {
      const server = new McpServer({ name: "slow", version: "1" });
      server.registerTool("slow", { description: "Waits." }, async ({ mcpReq }) => {
        const params = { progressToken: "t", progress: 1, message: "half" };
        await mcpReq.notify({ method: "notifications/progress", params });
        await release.promise;
        return { content: [{ type: "text", text: "whole" }] };
      });
      return server;
    });
    closing.push(handler.close);
    const session = await startSession(handler);
    const params = { name: "slow", arguments: {}, _meta: { progressToken: "t" } };
    const cut = await post(handler, { ...callWho, params }, { session });
    const seen = await readUntil(cut, "half");
    const last = [...seen.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? "";
    release.resolve();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const headers = {
      "mcp-session-id": session,
      "mcp-protocol-version": version,
      accept: "text/event-stream",
      "last-event-id": last,
    };
    const resumed = await handler.fetch(new Request("http://127.0.0.1/mcp", { headers }));
    const rest = await resumed.text();
    expect(rest).toContain("whole");
    expect(rest).not.toContain("half");
    expect(rest.match(/"id":2/g)).toHaveLength(1);
    const lost = new Request("http://127.0.0.1/mcp", { headers: { ...headers, "last-event-id": "99" } });
    expect((await handler.fetch(lost)).status).toBe(400);
  });
});

/** What a client has read when its connection breaks. */
async function readUntil(response: Response, word: string): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(word)) text += (await reader?.read())?.value ?? "";
  await reader?.cancel();
  return text;
}

describe("a request over a limit is refused with a code (A61)", () => {
  const createNestedArray = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const call = (id: string) => ({ ...callWho, id });

  it.each([
    [
      "a body of more than 4 MB",
      JSON.stringify({ ...callWho, x: "x".repeat(4 * 1024 * 1024) }),
      413,
      "body_too_large",
    ],
    ["a batch of 101", JSON.stringify(Array.from({ length: 101 }, () => callWho)), 400, "batch_too_large"],
    ["a batch of 10^5", JSON.stringify(Array.from({ length: 1e5 }, () => 0)), 400, "batch_too_large"],
    ["a depth of 65", createNestedArray(65), 400, "too_deep"],
    ["a depth of 10^5", `{"a":${createNestedArray(1e5)}}`, 400, "too_deep"],
    ["an id of 1 MB", JSON.stringify(call("x".repeat(1024 * 1024))), 400, "id_too_long"],
    ["an id of 257 in a batch", JSON.stringify([callWho, call("x".repeat(257))]), 400, "id_too_long"],
    ["no JSON", "{", 400, "parse_error"],
  ])("%s", async (_, body, status, name) => {
    const handler = createMarkedHandler();
    const session = await startSession(handler);
    for (const asked of [{ session }, {}]) {
      const response = await post(handler, body, asked);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { data: { name } }, id: null });
    }
  });

  it("a request at the limit is served", async () => {
    const handler = createMarkedHandler();
    const session = await startSession(handler);
    const batch = Array.from({ length: 100 }, (_, index) => call(String(index).padStart(256, "x")));
    const response = await post(handler, batch, { session });
    expect((await response.text()).match(/nobody/g)).toHaveLength(100);
  });

  it("the depth of any JSON is measured like a parser would", () => {
    const depth = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(measureDepth(JSON.stringify(value))).toBe(depth(value));
      }),
    );
  });
});

describe("a request for a host name", () => {
  const status = async (headers: Record<string, string>, options = {}) =>
    (await post(createMarkedHandler(options), initialize, { headers })).status;

  it("other than localhost is refused by default", async () => {
    expect(await status({ host: "localhost:3000" })).toBe(200);
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ host: "mcp.example" }, { allowedHosts: ["mcp.example"] })).toBe(200);
    expect(await status({ host: "localhost" }, { allowedHosts: ["mcp.example"] })).toBe(403);
    expect(await status({ host: "evil.example" }, { allowedHosts: "any" })).toBe(200);
  });

  it("from a page of another origin is refused by default", async () => {
    const host = "localhost";
    expect(await status({ host, origin: "http://localhost:5173" })).toBe(200);
    expect(await status({ host, origin: "https://evil.example" })).toBe(403);
    expect(await status({ host, origin: "null" })).toBe(403);
    expect(await status({ host, origin: "https://app.example" }, { allowedOrigins: ["app.example"] })).toBe(
      200,
    );
    expect(await status({ host, origin: "https://evil.example" }, { allowedOrigins: "any" })).toBe(200);
    const hosts = { allowedHosts: ["mcp.example"] };
    expect(await status({ host: "mcp.example", origin: "https://mcp.example" }, hosts)).toBe(200);
    expect(await status({ host: "mcp.example", origin: "https://evil.example" }, hosts)).toBe(403);
  });
});

it("clients of both eras are notified of a changed list", async () => {
  const handler = createMarkedHandler();
  const { url, close } = await listenOnLoopback(handler);
  closing.push(close);
  const told: string[] = [];
  for (const era of eras) {
    const client = await connect(url, era, {
      prepare: (made) =>
        made.setNotificationHandler("notifications/tools/list_changed", () => void told.push(era)),
    });
    closing.push(() => client.close());
    if (era === "modern") await client.listen({ toolsListChanged: true });
  }
  await expect
    .poll(() => {
      handler.notify.toolsChanged();
      return new Set(told).size;
    })
    .toBe(2);
});

it.each(eras)("credentials do not get past the handler (A57, %s)", async (era) => {
  const handler = mcpHandler(() => {
    const server = new McpServer({ name: "curious", version: "1" });
    server.registerTool("headers", { description: "Says what it was sent." }, ({ http }) => ({
      content: [{ type: "text", text: JSON.stringify([...(http?.req?.headers ?? [])]) }],
    }));
    return server;
  });
  const { url, close } = await listenOnLoopback(handler);
  closing.push(close);
  const secrets = { authorization: "Bearer hunter2", cookie: "s=hunter2", "proxy-authorization": "hunter2" };
  const client = await connect(url, era, { headers: secrets });
  closing.push(() => client.close());
  const { content } = await client.callTool({ name: "headers", arguments: {} });
  expect(JSON.stringify(content)).toContain("content-type");
  expect(JSON.stringify(content)).not.toContain("hunter2");
});

it("a closed handler refuses requests", async () => {
  const handler = createMarkedHandler();
  const session = await startSession(handler);
  await handler.close();
  expect((await post(handler, callWho, { session })).status).toBe(503);
  expect((await post(handler, initialize)).status).toBe(503);
});

describe("nothing in a request starts a process (A47)", () => {
  const spawn = vi.spyOn(ChildProcess.prototype as unknown as { spawn(): void }, "spawn");
  beforeEach(() => void spawn.mockClear());

  it("whatever servers and commands it contains", async () => {
    const helper = defineAgent({
      name: "helper",
      model: scriptedModel(() => ({ text: "ok" }), { record: false }),
    });
    const { fetch, close } = serveMcp({ agents: [helper] });
    closing.push(close);
    const handler = { ...createMarkedHandler(), fetch };
    const session = await startSession(handler);
    const command = fc.record(
      {
        command: fc.constantFrom("sh", "npx", "node", "/bin/true"),
        args: fc.array(fc.string(), { maxLength: 3 }),
        mcpServers: fc.dictionary(fc.string(), fc.record({ command: fc.constant("sh") })),
        prompt: fc.string({ minLength: 1 }),
      },
      { requiredKeys: [] },
    );
    const body = fc.record(
      {
        jsonrpc: fc.constant("2.0"),
        id: fc.nat(),
        method: fc.constantFrom("initialize", "tools/call", "tools/list", "server/discover", "mcp/connect"),
        params: fc.oneof(
          command,
          fc.record({ name: fc.constantFrom("query", "resume", "sh"), arguments: command }),
        ),
        mcpServers: fc.dictionary(fc.string(), command),
        command: fc.string(),
      },
      { requiredKeys: ["jsonrpc", "method"] },
    );
    await fc.assert(
      fc.asyncProperty(body, fc.boolean(), async (message, isKnown) => {
        const response = await post(handler, message, { session: isKnown ? session : null });
        await response.body?.cancel();
      }),
      { numRuns: 300 },
    );
    expect(spawn).not.toHaveBeenCalled();
  });
});

describe("a hundred clients with the same request ids", () => {
  it.each(["modern", "v1"] as const)("each get their own answers (A60, %s)", async (kind) => {
    const handler = mcpHandler(({ user = "nobody" }) => {
      const server = new McpServer({ name: "marked", version: "1" });
      server.registerTool("whoami", { description: "Says who asks, later." }, async () => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        return { content: [{ type: "text", text: user }] };
      });
      return server;
    });
    const { url, close } = await listenOnLoopback(handler);
    closing.push(close);
    const users = Array.from({ length: 100 }, (_, index) => `user-${index}`);
    const wrong = await Promise.all(
      users.map(async (user) => {
        const client = kind === "v1" ? await connectV1(url, { user }) : await connect(url, kind, { user });
        const answers = await Promise.all(
          Array.from({ length: 2 }, () => client.callTool({ name: "whoami", arguments: {} })),
        );
        await client.close();
        return answers.filter(({ content }) => (content as { text: string }[])[0]?.text !== user).length;
      }),
    );
    expect(wrong.reduce((sum, count) => sum + count, 0)).toBe(0);
  });
});
