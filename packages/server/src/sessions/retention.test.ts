import { defineAgent } from "capstan";
import { session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import type { Retention } from "./retention.ts";

const opened: TestServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close(0);
});

const dayMs = 86_400_000;

/** A store with three sessions: one from long ago, a large one and a new one. */
async function createFilledStore() {
  let time = Date.now() - 100 * dayMs;
  const store = memory({ clock: { now: () => time, monotonic: () => 0, after: () => () => undefined } });
  await store.create("local~old");
  await store.create("local~old-waiting");
  time = Date.now();
  await store.create("local~large");
  await store.putBlob("local~large", { mediaType: "text/plain", data: "x".repeat(10_000) });
  await store.create("local~new");
  return store;
}

function serve(store: Awaited<ReturnType<typeof createFilledStore>>, retention: Retention): TestServer {
  const agent = defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "x" })) });
  const server = createTestServer({ agents: [agent], store, retention });
  opened.push(server);
  return server;
}

it("sessions that are too old or too large are removed in the background", async () => {
  const store = await createFilledStore();
  serve(store, { olderThanDays: 30, maxBytes: 5_000 });
  await expect
    .poll(async () => (await store.list()).map(({ id }) => id), { timeout: 30_000 })
    .toEqual(["local~new"]);
});

it("sessions are kept without a setting, and an invalid setting is refused", async () => {
  const store = await createFilledStore();
  serve(store, {});
  expect(() => serve(store, { olderThanDays: 0 })).toThrow(
    "`retention.olderThanDays` must be greater than 0",
  );
  expect(await store.list()).toHaveLength(4);
  expect(await session(store, "local~old").title()).toBe("Untitled");
});
