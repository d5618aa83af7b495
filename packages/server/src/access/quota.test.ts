import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
afterEach(() => server.close(0));

it("new work is refused while memory is nearly full, and active runs continue (F83)", async () => {
  let memoryInUse = 0.5;
  const ready = Promise.withResolvers<void>();
  const model = scriptedModel(() => ({ text: "Done.", delayMs: 1 }), { wait: () => ready.promise });
  server = createTestServer({
    agents: [defineAgent({ name: "helper", model })],
    memoryInUse: () => memoryInUse,
  });
  const { runId } = await (await server.send("POST", "/api/runs", { input: "Hello" })).json();
  memoryInUse = 0.95;
  const refused = await server.send("POST", "/api/runs", { input: "Hello" });
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toMatch(/^[1-5]$/);
  expect(await refused.json()).toMatchObject({ error: { code: "overloaded", retryable: true } });
  ready.resolve();
  expect(await (await server.send("GET", `/api/runs/${runId}/events`)).text()).toContain('"text":"Done."');
  memoryInUse = 0.5;
  expect((await server.send("POST", "/api/runs", { input: "Hello" })).status).toBe(201);
});

it("a process limits its active runs across all users (F83)", async () => {
  const model = scriptedModel(() => ({ text: "…", hang: true }), { record: false });
  server = createTestServer({ agents: [defineAgent({ name: "helper", model })], maxRuns: 2 });
  const start = async () => (await server.send("POST", "/api/runs", { input: "Hello" })).status;
  expect([await start(), await start(), await start()]).toEqual([201, 201, 503]);
});
