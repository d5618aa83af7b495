import { AgentError, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { afterEach, expect, it } from "vitest";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const open: TestServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

function serve(options: Partial<Parameters<typeof createTestServer>[0]> = {}): TestServer {
  const server = createTestServer({ agents: [createHelloAgent()], ...options });
  open.push(server);
  return server;
}

it("every response carries headers that restrict the browser (A73, A91, A97)", async () => {
  const { send } = serve();
  const answers = await Promise.all([
    send("GET", "/api/runs"),
    send("GET", "/api/health"),
    send("GET", "/nothing"),
    send("PUT", "/api/runs", {}),
    send("POST", "/api/runs", { wrong: 1 }),
    send("GET", "/api/runs", undefined, { host: "evil.example" }),
    send("GET", "/api/runs", undefined, { origin: "https://evil.example" }),
    send("HEAD", "/api/runs"),
    send("OPTIONS", "/api/runs"),
    send("GET", "/v1/models"),
    send("POST", "/v1/chat/completions", { wrong: 1 }),
    send("GET", "/v1/models", undefined, { origin: "https://evil.example" }),
    send("POST", "/mcp", {}, { origin: "https://evil.example" }),
    send("GET", "/openapi.json"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([
    200, 200, 404, 405, 400, 421, 403, 200, 405, 200, 400, 403, 403, 200,
  ]);
  for (const { headers } of answers) {
    const { "content-type": _, "content-length": __, allow: ___, ...rest } = Object.fromEntries(headers);
    expect(rest).toEqual({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy":
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  }
});

it("another method on an existing path is 405, with the allowed methods", async () => {
  const { send } = serve();
  const answer = await send("DELETE", "/api/runs");
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  for (const method of ["PROPFIND", "QUERY", "FOO"])
    expect((await send(method, "/api/health")).status, method).toBe(405);
});

it("no GET changes anything (A80)", async () => {
  const real = memory();
  const changes: string[] = [];
  const writing = ["append", "create", "remove", "rename", "tell", "putRecord", "removeRecord", "putBlob"];
  const store = new Proxy(real, {
    get(target, name: keyof Store) {
      if (writing.includes(name)) changes.push(name);
      return target[name];
    },
  });
  const server = serve({ store });
  const { runId, sessionId } = await (await server.send("POST", "/api/runs", { input: "Hello" })).json();
  await (await server.send("GET", `/api/runs/${runId}/events`)).text();
  await new Promise((resolve) => setTimeout(resolve, 50)); // the usage was counted
  changes.length = 0;
  const names: Record<string, string> = { runId, sessionId, callId: "call_1", name: "helper" };
  for (const { method, path } of server.routes) {
    if (method !== "GET") continue;
    const answer = await server.send(
      "GET",
      path.replaceAll(/\{(\w+)\}/g, (_, name) => names[name] ?? "x"),
    );
    expect(answer.status, path).toBeLessThan(500);
    await answer.body?.cancel();
  }
  expect(changes).toEqual([]);
});

it("pages of listed origins may send and read, with a key and without cookies; others learn nothing (A79)", async () => {
  const origin = "https://app.example.com";
  const { send } = serve({ origins: [origin] });
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  const allowed = await send("OPTIONS", "/api/runs", undefined, { origin, ...preflight });
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
  expect(allowed.headers.get("access-control-allow-headers")).toContain("authorization");
  expect(allowed.headers.get("vary")).toBe("origin");
  const read = await send("GET", "/api/runs", undefined, { origin, "sec-fetch-site": "cross-site" });
  expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  for (const other of ["https://evil.example", "null", "https://app.example.com.evil.example", "*"]) {
    for (const answer of [
      await send("OPTIONS", "/api/runs", undefined, { origin: other, ...preflight }),
      await send("GET", "/api/runs", undefined, { origin: other }),
    ]) {
      expect(answer.status).toBe(403);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(answer.headers.get("vary")).toBe("origin");
    }
  }
  expect([...allowed.headers.keys(), ...read.headers.keys()]).not.toContain(
    "access-control-allow-credentials",
  );
});

it("pages of listed origins may send the headers of the protocols' clients, and read the ones they need (A79)", async () => {
  const origin = "https://app.example.com";
  const { send } = serve({ origins: [origin] });
  const preflightStatus = async (names: string, from = origin) => {
    const answer = await send("OPTIONS", "/v1/chat/completions", undefined, {
      ...{ origin: from, "access-control-request-method": "POST" },
      "access-control-request-headers": names,
    });
    return answer.headers.get("access-control-allow-headers")?.split(", ");
  };
  const openai = ["x-stainless-lang", "x-stainless-retry-count", "authorization", "accept"];
  expect(await preflightStatus(openai.join(","))).toEqual(expect.arrayContaining(openai));
  const others = ["a2a-version", "a2a-extensions", "user-agent"];
  expect(await preflightStatus(others.join(", "))).toEqual(expect.arrayContaining(others));
  const odd = await preflightStatus("x-stainless-a\u00e9, x-stainless-, x-evil, x-stainless-os");
  expect(odd).toContain("x-stainless-os");
  for (const name of ["x-evil", "x-stainless-", "x-stainless-a\u00e9"]) expect(odd).not.toContain(name);
  expect(await preflightStatus("x-stainless-lang", "https://evil.example")).toBeUndefined();
  const read = await send("GET", "/api/runs", undefined, { origin });
  const readable = read.headers.get("access-control-expose-headers")?.split(", ");
  expect(readable).toEqual(
    expect.arrayContaining(["x-run-id", "x-session-id", "x-vercel-ai-ui-message-stream", "retry-after"]),
  );
});

it("without a list of origins there is no word of CORS (A79)", async () => {
  const { send } = serve();
  const answer = await send("GET", "/api/runs", undefined, { origin: "http://127.0.0.1" });
  expect(answer.status).toBe(200);
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
});

it("health is public, returns only a status, and reports a shutdown (A98)", async () => {
  const server = serve({ apiKey: "the-own-key-of-this-server" });
  const answer = await server.send("GET", "/api/health");
  expect([answer.status, await answer.text()]).toEqual([200, '{"status":"ok"}']);
  await server.close(0);
  const leaving = await server.send("GET", "/api/health");
  expect([leaving.status, await leaving.text(), leaving.headers.get("retry-after")]).toEqual([
    503,
    '{"status":"draining"}',
    "1",
  ]);
});

const planted = "PLANTED-sk-secret-in-/home/ada/app.ts";

function createThrowingError(): Error {
  const get = (): never => {
    throw new Error(planted);
  };
  return Object.defineProperties(new Error(planted), { name: { get }, message: { get }, code: { get } });
}

const thrown: readonly [string, unknown][] = [
  ["an error", new Error(planted)],
  ["an error with a cause", new Error("outer", { cause: new Error(planted) })],
  ["a text", planted],
  ["nothing", null],
  ["an object", { message: planted, status: 200, code: "invalid_input" }],
  ["a Response", new Response(planted)],
  [
    "one that ends in itself",
    Object.assign(new Error(planted), { getResponse: () => new Response(planted) }),
  ],
  ["a frozen one", Object.freeze(new TypeError(planted))],
  ["one that throws when it is looked at", createThrowingError()],
  ["an AgentError of the inside", new AgentError("store_failed", planted)],
  ["one that says it is busy", new AgentError("store_busy", planted)],
  ["one without a known code", Object.assign(new AgentError("internal", planted), { code: planted })],
  ["an aggregate", new AggregateError([new Error(planted)], planted)],
];

it.each(thrown)("an internal error (%s) reveals only an id, which is in the log (A94)", async (_, what) => {
  const log: [unknown, string][] = [];
  const real = memory();
  const fail = () => Promise.reject(what);
  const store: Store = { ...real, list: fail, queryRuns: fail, findSession: fail, lease: fail };
  const { send } = serve({ store, onError: (error, id) => log.push([error, id]) });
  log.length = 0;
  for (const answer of [await send("GET", "/api/runs"), await send("GET", "/api/runs/run_1")]) {
    const bytes = JSON.stringify([...answer.headers]) + (await answer.clone().text());
    expect(bytes).not.toContain("PLANTED");
    expect(bytes).not.toMatch(/\bat \S+:\d+/);
    expect(answer.status).toBe(500);
    const { error } = await answer.json();
    expect(error.code).toBe("internal");
    expect(log.some(([seen, id]) => seen === what && id === error.id)).toBe(true);
  }
});

it("a log that throws changes nothing of the answer (A94)", async () => {
  const store: Store = { ...memory(), queryRuns: () => Promise.reject(new Error(planted)) };
  const onError = () => {
    throw new Error(planted);
  };
  const answer = await serve({ store, onError }).send("GET", "/api/runs");
  expect([answer.status, (await answer.text()).includes("PLANTED")]).toEqual([500, false]);
});

it("text from a path or an id is never part of a header (A91)", async () => {
  const { send } = serve();
  for (const path of [
    "/api/runs/x%0d%0aset-cookie:%20a=b",
    "/%0d%0aset-cookie:%20a=b",
    "/api/runs?x=%0d%0aa:b",
  ]) {
    const answer = await send("GET", path);
    expect(answer.status, path).toBeOneOf([400, 404]);
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect([...answer.headers.values()].join()).not.toContain("a=b");
  }
});
