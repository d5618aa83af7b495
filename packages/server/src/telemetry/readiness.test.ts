import type { Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { afterEach, expect, it, vi } from "vitest";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { findFailedChecks } from "./readiness.ts";

let server: TestServer | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await server?.close(0);
});

const agents = [createHelloAgent()];
const withGetRecord = (getRecord: Store["getRecord"]): Store => ({ ...memory(), getRecord });

it("a server is ready until it shuts down, and alive until its process ends", async () => {
  server = createTestServer({ agents, apiKey: "canary-key-0123456789" });
  const ready = await server.send("GET", "/readyz");
  expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
  await server.close(0);
  const draining = await server.send("GET", "/readyz");
  expect([draining.status, await draining.json()]).toEqual([
    503,
    { status: "not ready", failed: ["draining"] },
  ]);
  const alive = await server.send("GET", "/healthz");
  expect([alive.status, await alive.json()]).toEqual([200, { status: "ok" }]);
});

it("a server that an admin drains is not ready until it takes new work again", async () => {
  server = createTestServer({ agents });
  await server.send("PUT", "/api/admin/drain", { isDraining: true });
  const draining = await server.send("GET", "/readyz");
  expect([draining.status, await draining.json()]).toMatchObject([503, { failed: ["draining"] }]);
  await server.send("PUT", "/api/admin/drain", { isDraining: false });
  expect((await server.send("GET", "/readyz")).status).toBe(200);
});

it("a store that fails is named, without its error, and the process stays alive", async () => {
  const store = withGetRecord(() => Promise.reject(new Error("canary: password of postgres://ada@db")));
  server = createTestServer({ agents, store });
  const response = await server.send("GET", "/readyz");
  expect([response.status, await response.text()]).toEqual([
    503,
    '{"status":"not ready","failed":["store"]}',
  ]);
  expect((await server.send("GET", "/healthz")).status).toBe(200);
});

it("a store that does not answer within a second counts as unreachable, and is asked once", async () => {
  vi.useFakeTimers();
  const getRecord = vi.fn<Store["getRecord"]>(() => new Promise(() => undefined));
  server = createTestServer({ agents, store: withGetRecord(getRecord) });
  const answers = Promise.all([1, 2, 3].map(() => server?.send("GET", "/readyz")));
  await vi.advanceTimersByTimeAsync(1000);
  for (const answer of await answers) expect(await answer?.json()).toMatchObject({ failed: ["store"] });
  expect(getRecord.mock.calls.filter(([kind]) => kind === "readiness")).toHaveLength(1);
});

it("the result of a check is kept for a second", async () => {
  let isUp = true;
  let now = 0;
  const store = withGetRecord(async () => {
    if (isUp) return undefined;
    throw new Error("down");
  });
  const admission = { isOverloaded: () => false } as Parameters<typeof findFailedChecks>[0]["admission"];
  const find = () =>
    findFailedChecks(
      { store, admission, drain: { isOn: false }, shutdownSignal: new AbortController().signal },
      () => now,
    );
  expect(await find()).toEqual([]);
  isUp = false;
  now = 999;
  expect(await find()).toEqual([]);
  now = 1000;
  expect(await find()).toEqual(["store"]);
});

it("a server that has been overloaded for long is not ready", async () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  server = createTestServer({ agents, memoryInUse: () => 1 });
  const getStatus = async () => (await server?.send("GET", "/readyz"))?.status;
  expect(await getStatus()).toBe(200);
  now = 14_000;
  expect(await getStatus()).toBe(200);
  now = 15_000;
  expect(await (await server.send("GET", "/readyz")).json()).toEqual({
    status: "not ready",
    failed: ["load"],
  });
  vi.restoreAllMocks();
});
