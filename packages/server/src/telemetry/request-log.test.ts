import { type Agent, defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import type { RequestLogEntry } from "./request-log.ts";

let server: TestServer | undefined;
afterEach(() => server?.close(0));

const localKey = "canary-local-key-0123456789";
const admin = { authorization: `Bearer ${localKey}` };

function createAgent(): Agent {
  const tell = defineTool({
    ...{ name: "tell", description: "Tells", input: { type: "object" } },
    execute: () => "canary-result",
  });
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result"
      ? { text: "canary-answer" }
      : { calls: [{ name: "tell", input: { words: "canary-argument" } }] },
  );
  return defineAgent({ name: "talker", model, tools: [tell] });
}

function startServer(): { readonly server: TestServer; readonly log: RequestLogEntry[] } {
  const log: RequestLogEntry[] = [];
  server = createTestServer({
    agents: [createAgent()],
    apiKey: localKey,
    onRequest: (entry) => log.push(entry),
  });
  return { server, log };
}

/** The parts of an entry that do not depend on time. */
const summarize = ({ method, route, status, user, runId }: RequestLogEntry) =>
  [method, route, status, user, runId] as const;

describe("the request log", () => {
  it("has one entry per request: time, method, route, status, duration, user and run", async () => {
    const { server, log } = startServer();
    const { secret } = await server.keys.create({ user: "ada" });
    const ada = { authorization: `Bearer ${secret}` };
    const { runId } = await (await server.send("POST", "/api/runs", { input: "Hi" }, ada)).json();
    await (await server.send("GET", `/api/runs/${runId}/events`, undefined, ada)).text();
    await (await server.send("HEAD", "/api/about", undefined, admin)).text();
    await (await server.send("GET", "/api/health")).text();
    await (await server.send("GET", "/nowhere")).text();
    await (await server.send("GET", "/api/sessions")).text();
    expect(log.map(summarize)).toEqual([
      ["POST", "/api/runs", 201, "ada", runId],
      ["GET", "/api/runs/{runId}/events", 200, "ada", runId],
      ["HEAD", "/api/about", 200, "", undefined],
      ["GET", "/api/health", 200, undefined, undefined],
      ["GET", undefined, 404, undefined, undefined],
      ["GET", "/api/sessions", 401, undefined, undefined],
    ]);
    for (const { time, ms } of log) {
      expect(new Date(time).toISOString()).toBe(time);
      expect(Number.isInteger(ms) && ms >= 0).toBe(true);
    }
  });

  it.each([
    ["/v1/chat/completions", { model: "talker", messages: [{ role: "user", content: "canary-prompt" }] }],
    [
      "/v1/chat/completions",
      { model: "talker", stream: true, messages: [{ role: "user", content: "canary-prompt" }] },
    ],
    ["/v1/responses", { model: "talker", input: "canary-prompt" }],
    ["/api/chat", { messages: [{ role: "user", content: "canary-prompt" }] }],
  ])("names the run that a request to %s starts", async (path, body) => {
    const { server, log } = startServer();
    await (await server.send("POST", path, body, admin)).text();
    expect(log).toHaveLength(1);
    expect(log[0]).toMatchObject({ route: path, status: 200, user: "", runId: expect.any(String) });
    expect(JSON.stringify(log)).not.toContain("canary");
  });

  it("contains no prompt, answer, argument, header, query string, path or refused id", async () => {
    const { server, log } = startServer();
    const headers = { ...admin, "idempotency-key": "canary-idempotency", cookie: "a=canary-cookie" };
    const started = await server.send("POST", "/api/runs", { input: "canary-prompt" }, headers);
    const { runId } = await started.json();
    const events = await server.send("GET", `/api/runs/${runId}/events?stream=final`, undefined, admin);
    expect(await events.text()).toContain("canary-argument");
    for (const [method, path] of [
      ["GET", "/api/sessions?search=canary-query"],
      ["GET", "/canary-path"],
      ["GET", "/api/runs/canary-run"],
      ["GET", "/api/runs?api_key=canary-key"],
      ["POST", "/api/runs/canary-run/cancel"],
      ["CANARY", "/api/runs"],
    ] as const)
      await (await server.send(method, path, undefined, admin)).text();
    await (await server.send("POST", "/api/runs", { canary: "canary-body" }, admin)).text();
    expect(log.map(({ status }) => status)).toEqual([201, 200, 200, 404, 404, 400, 404, 405, 400]);
    expect(JSON.stringify(log)).not.toMatch(/canary/i);
    const fields = new Set(log.flatMap((entry) => Object.keys(entry)));
    expect([...fields].toSorted()).toEqual(["method", "ms", "route", "runId", "status", "time", "user"]);
  });

  it("names the run of a request that is repeated", async () => {
    const { server, log } = startServer();
    const headers = { ...admin, "idempotency-key": "canary-repeated" };
    for (const _ of [1, 2]) await (await server.send("POST", "/api/runs", { input: "Hi" }, headers)).text();
    expect(log.map(({ status }) => status)).toEqual([201, 200]);
    expect(log[1]?.runId).toEqual(expect.any(String));
    expect(log[1]?.runId).toBe(log[0]?.runId);
  });

  it("logs a stream when it ends, also when the client leaves", async () => {
    const { server, log } = startServer();
    const body = { messages: [{ role: "user", content: "Hi" }] };
    const response = await server.send("POST", "/api/chat", body, admin);
    const reader = response.body?.getReader();
    await reader?.read();
    expect(log).toEqual([]);
    await reader?.cancel();
    expect(log).toHaveLength(1);
  });

  it("a log that fails changes no response and is reported", async () => {
    const problems: unknown[] = [];
    server = createTestServer({
      agents: [createAgent()],
      onRequest() {
        throw new Error("The disk is full");
      },
      onError: (error) => problems.push(error),
    });
    expect(await (await server.send("GET", "/api/health")).json()).toEqual({ status: "ok" });
    expect(problems).toEqual([expect.objectContaining({ message: "The disk is full" })]);
  });
});
