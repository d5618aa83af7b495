import { expect, it } from "vitest";
import { toBase64 } from "../../base/json.ts";
import { memory } from "../../stores/memory.ts";
import { rebuildRequests } from "./rebuild-request.ts";
import { openRequestLog, type PlacedRequest } from "./request-log.ts";
import type { StoredRequest } from "./stored-request.ts";

const createRequest = (body: string, fields: Partial<PlacedRequest> = {}): PlacedRequest => ({
  ...{ url: "", method: "", headers: {}, body, purpose: "answer", model: "m" },
  ...{ runId: "r", turn: 1, agent: "a", at: 0 },
  ...fields,
});

/** A store with one session that has what the log returned so far. */
function openStoredLog(stored: StoredRequest[] = [], isNew = true) {
  const store = {
    ...memory(),
    readRequests: async (_: string, { from = 1, to = Infinity, last = Infinity } = {}) =>
      stored.filter(({ number }) => number >= from && number <= to).slice(-last),
  };
  const log = openRequestLog({ store, sessionId: "s", runId: "r", isNew });
  async function keep(request: PlacedRequest): Promise<StoredRequest | undefined> {
    log?.add(request);
    stored.push(...((await log?.take(1)) ?? []));
    return stored.at(-1);
  }
  return { store, stored, keep };
}

it("media that are a blob of the session are stored as a reference, and rebuilt from it", async () => {
  const { store, stored, keep } = openStoredLog();
  const bytes = Uint8Array.from({ length: 3000 }, (_, index) => (index * 31) % 256);
  const handle = await store.putBlob("s", { mediaType: "image/png", data: bytes });
  const body = `{"image":"${toBase64(bytes)}","text":"What is it?"}`;
  const kept = await keep(createRequest(body, { media: [{ handle, data: toBase64(bytes) }] }));
  expect(kept?.pieces).toEqual(['{"image":"', { blob: handle }, '","text":"What is it?"}']);
  await keep(createRequest(body.replace("What", "Where"), { media: [{ handle, data: toBase64(bytes) }] }));
  expect(JSON.stringify(stored[1]).length).toBeLessThan(500);
  const rebuilt = await rebuildRequests({ store, sessionId: "s" }, stored);
  expect(rebuilt.map((request) => request.body)).toEqual([body, body.replace("What", "Where")]);
});

it("a session that is opened again adds to its last requests, whichever agent sent them", async () => {
  const stored: StoredRequest[] = [];
  const entry = (index: number) => `{"role":"user","content":"entry ${index} ${"x".repeat(200)}"}`;
  const build = (count: number, name: string) =>
    `{"agent":"${name}","messages":[${Array.from({ length: count }, (_, index) => entry(index)).join(",")}]}`;
  for (let turn = 1; turn <= 40; turn++) {
    const { keep } = openStoredLog(stored, turn === 1);
    const agent = turn % 2 === 0 ? "even" : "odd";
    await keep(createRequest(build(turn, agent), { turn, agent }));
  }
  const { store } = openStoredLog(stored);
  const rebuilt = await rebuildRequests({ store, sessionId: "s" }, stored);
  expect(rebuilt.map(({ body }) => body)).toEqual(stored.map(({ turn, agent }) => build(turn, agent)));
  // 40 entries, some of them for both agents; whole requests would be 200,000 characters.
  expect(JSON.stringify(stored).length).toBeLessThan(60_000);
});

it("a request is stored as a whole before too much would have to be read to rebuild it", async () => {
  const { stored, keep } = openStoredLog();
  const same = "unchanged ".repeat(20);
  for (let index = 0; index < 60; index++) {
    const noise = Array.from({ length: 500 }, (_, at) => ((at + 1) * (index + 3) * 7919) % 99_991).join(" ");
    await keep(createRequest(`${same}${noise}`));
  }
  for (const { span } of stored) expect(span).toBeLessThan(100_000);
  expect(stored.filter(({ base }) => base === undefined).length).toBeGreaterThan(1);
});
