import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
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

const own = "the-own-key-of-this-server";

it.each([
  ["nothing", undefined],
  ["an empty one", ""],
  ["no scheme", own],
  ["two blanks", `Bearer  ${own}`],
  ["a blank behind", `Bearer ${own} x`],
  ["a key in another case", `Bearer ${own.toUpperCase()}`],
  ["another scheme", `Basic ${own}`],
  ["no key", "Bearer"],
  ["another key", "Bearer cap_0123456789abcdef_0123456789012345678901234567890123456789012"],
  ["1 MB", `Bearer ${"x".repeat(1_000_000)}`],
  ["two keys", `Bearer ${own}, Bearer ${own}`],
])("with %s for a key the response is 401, and explains how to authenticate (A83)", async (_, authorization) => {
  const { send } = serve({ apiKey: own });
  const answer = await send(
    "GET",
    "/api/runs",
    undefined,
    authorization === undefined ? {} : { authorization },
  );
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="capstan"');
  expect(await answer.json()).toMatchObject({ error: { code: "unauthorized", retryable: false } });
});

it("the server's key authenticates its local user, regardless of the case of the scheme (A83)", async () => {
  const { send } = serve({ apiKey: own });
  for (const scheme of ["Bearer", "bearer"])
    expect((await send("GET", "/api/runs", undefined, { authorization: `${scheme} ${own}` })).status).toBe(
      200,
    );
});

it("while no key exists none is required, and any key sent is ignored", async () => {
  const server = serve();
  expect((await server.send("GET", "/api/runs")).status).toBe(200);
  expect((await server.send("GET", "/api/runs", undefined, { authorization: "Bearer any" })).status).toBe(
    200,
  );
  await server.keys.create({ user: "ada" });
  expect((await server.send("GET", "/api/runs")).status).toBe(401);
});

it.each([
  { userId: "bob" },
  { user: "bob" },
  { scopes: ["admin"] },
  { role: "system" },
  { resourceId: "bob" },
  { isAdmin: true },
])("a body cannot identify the user: %j (A85)", async (more) => {
  const server = serve();
  const { secret } = await server.keys.create({ user: "ada" });
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await server.send("POST", "/api/runs", { input: "Hello", ...more }, headers);
  expect(answer.status).toBe(400);
});

it("a header cannot identify the user (A85)", async () => {
  const server = serve();
  const { secret } = await server.keys.create({ user: "ada" });
  const answer = await server.send(
    "POST",
    "/api/runs",
    { input: "Hello" },
    {
      authorization: `Bearer ${secret}`,
      "x-forwarded-user": "bob",
      "x-remote-user": "bob",
      "x-capstan-user": "bob",
      "x-openclaw-scopes": "admin",
      "x-scopes": "admin",
      cookie: "user=bob",
    },
  );
  expect(answer.status).toBe(201);
  expect((await answer.json()).sessionId).toMatch(/^ada~/);
});

it.each(["memory", "sqlite"])("users that differ only in case do not meet, in %s (A119)", async (name) => {
  const store = name === "sqlite" ? sqlite(":memory:") : memory();
  const server = serve({ store });
  const keys = await Promise.all(["ada", "Ada", "ADA"].map((user) => server.keys.create({ user })));
  const [ada, other, third] = keys.map(({ secret }) => ({ authorization: `Bearer ${secret}` }));
  const started = await (await server.send("POST", "/api/runs", { input: "Hello" }, ada)).json();
  for (const headers of [other, third]) {
    expect((await server.send("GET", `/api/runs/${started.runId}`, undefined, headers)).status).toBe(404);
    const { runs } = await (await server.send("GET", "/api/runs", undefined, headers)).json();
    expect(runs).toEqual([]);
  }
  expect((await (await server.send("GET", "/api/runs", undefined, ada)).json()).runs).toHaveLength(1);
});

it("ids are compared as bytes: another case or normal form belongs to no user (A119)", async () => {
  const server = serve();
  const { runId, sessionId } = await (await server.send("POST", "/api/runs", { input: "Hello" })).json();
  const swapped = (id: string) => id.replace(/[a-f]/, (letter) => letter.toUpperCase());
  expect((await server.send("GET", `/api/runs/${runId}`)).status).toBe(200);
  for (const other of [swapped(runId), `${runId}\u0301`, `${runId}%00`, `${runId}\u200b`, `${runId}%20`])
    expect((await server.send("GET", `/api/runs/${other}`)).status, other).toBeOneOf([400, 404]);
  for (const other of [swapped(sessionId), `${sessionId}\u0301`]) {
    const answer = await server.send("POST", "/api/runs", { input: "Hello", sessionId: other });
    expect(answer.status, other).toBeOneOf([400, 404]);
  }
});
