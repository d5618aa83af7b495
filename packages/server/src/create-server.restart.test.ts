import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Event, type Fact, isFact } from "capstan";
import {
  buildView,
  type Client,
  type ConnectionState,
  createClient,
  emptyView,
  reduce,
} from "capstan/client";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ServerOrder } from "./testing/server-worker.ts";
import type { SlowPlan } from "./testing/slow-agent.ts";
import { type ServerProcess, startServerWorker } from "./testing/start-server-worker.ts";

let folder: string;
let order: ServerOrder;
let server: ServerProcess;
let client: Client;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "capstan-restart-"));
  const store = { type: "sqlite", file: join(folder, "store.db") } as const;
  order = { store, port: 0, canary: join(folder, "canary") };
  server = await startServerWorker(order);
  order = { ...order, port: server.port };
  // On a busy machine a server restarts slowly.
  client = createClient({ baseURL: server.url, retries: 20 });
});

afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

async function killAndRestart(): Promise<void> {
  await server.kill();
  server = await startServerWorker(order);
}

/** Reads the file from another process. */
async function readStoredFacts(sessionId: string): Promise<readonly Fact[]> {
  const store = sqlite(join(folder, "store.db"));
  try {
    return await store.read(sessionId);
  } finally {
    await store.close();
  }
}

const words = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen ";
const longPlan: SlowPlan = Array.from({ length: 6 }, (_, turn) => ({
  say: `${turn}: ${words}`,
  call: "look" as const,
}));

/** Collects all events, and texts that were shown twice. */
async function collectEvents(
  events: AsyncIterable<Event>,
  onEvent?: (event: Event) => void,
): Promise<{ heard: Event[]; doubled: string[] }> {
  const heard: Event[] = [];
  const doubled: string[] = [];
  let view = emptyView;
  for await (const event of events) {
    heard.push(event);
    onEvent?.(event);
    view = reduce(view, event);
    const { text } = view.live;
    const isBeginning = text.startsWith("Done: ") || longPlan.some(({ say = "" }) => say.startsWith(text));
    if (!isBeginning) doubled.push(text);
  }
  return { heard, doubled };
}

/** A session's stream has no end. */
async function* untilDone(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    yield event;
    if (event.type === "done") return;
  }
}

it("after kill -9 in mid-run readers reconnect by themselves, and get every fact once and the end (F81)", async () => {
  const runs = [await client.runs.start({ input: JSON.stringify(longPlan) })];
  runs.push(await client.runs.start({ input: JSON.stringify(longPlan) }));
  const states: ConnectionState["type"][] = [];
  let events = 0;
  const readersOfText = new Set<number>();
  const onEvent = (reader: number) => (event: Event) => {
    events++;
    if (event.type === "content_delta") readersOfText.add(reader);
  };
  const listening = runs.map(({ runId }, index) =>
    collectEvents(client.runs.events(runId, { onState: ({ type }) => states.push(type) }), onEvent(index)),
  );
  const [first] = runs;
  listening.push(collectEvents(untilDone(client.sessions.events(first?.sessionId ?? "")), onEvent(2)));
  // After a kill, a reader may be disconnected until the run has ended, and misses all of its deltas.
  await expect.poll(() => readersOfText.size, { interval: 5 }).toBe(3);
  for (let kills = 0; kills < 3; kills++) {
    const next = events + 1 + Math.floor(Math.random() * 12);
    await expect.poll(() => events, { interval: 5 }).toBeGreaterThanOrEqual(next);
    await killAndRestart();
  }
  const heard = await Promise.all(listening);
  for (const [index, { sessionId }] of [...runs, ...runs.slice(0, 1)].entries()) {
    const stored = await readStoredFacts(sessionId);
    const listener = heard[index];
    expect(listener?.heard.filter(isFact)).toEqual(stored);
    expect(listener?.doubled).toEqual([]);
    expect(buildView(listener?.heard ?? [])).toEqual(buildView(stored));
    expect(stored.at(-1)).toMatchObject({ type: "done", status: "done" });
    // The kills must have hit something.
    expect(stored.filter(({ type }) => type === "recovered").length).toBeGreaterThan(0);
    expect(listener?.heard.some(({ type }) => type === "content_delta")).toBe(true);
  }
  expect(states.filter((type) => type === "lost").length).toBeGreaterThanOrEqual(6);
});

it("a run is started once, whatever happens to the server during the request (F84)", async () => {
  const input = JSON.stringify([{ say: "Hello." }]);
  const before = (await client.sessions.list()).length;
  const asked = Array.from({ length: 6 }, async (_, index) => {
    await sleep(index * 4);
    return client.runs.start({ input });
  });
  await sleep(Math.random() * 25);
  await killAndRestart();
  const started = await Promise.all(asked);
  expect(new Set(started.map(({ runId }) => runId)).size).toBe(6);
  for (const { sessionId } of started) expect(await client.runs.list({ sessionId })).toHaveLength(1);
  expect((await client.sessions.list()).length).toBe(before + 6);
  for (const { runId } of started) {
    const { heard } = await collectEvents(client.runs.events(runId));
    expect(heard.at(-1)).toMatchObject({ type: "done", status: "done", text: "Hello." });
  }
});

/** Returns the pending call of a suspended run. */
async function readPendingCall(runId: string): Promise<{ after: number; callId: string; digest: string }> {
  let after = 0;
  for await (const event of client.runs.events(runId, { untilRest: true }))
    if (isFact(event)) after = event.seq;
  const { state, result } = await client.runs.get(runId);
  expect([state, result?.status, result?.pending.length]).toEqual(["waiting", "waiting", 1]);
  const { callId = "", digest = "" } = result?.pending[0] ?? {};
  return { after, callId, digest };
}

async function readLast(events: AsyncIterable<Event>): Promise<Event | undefined> {
  let last: Event | undefined;
  for await (const event of events) last = event;
  return last;
}

it("calls that wait for a page or a user survive a restart, and are answered while the server is down (S0-50, C-28)", async () => {
  const onScreen = await client.runs.start({ input: JSON.stringify([{ call: "screen" }]) });
  const ofMoney = await client.runs.start({ input: JSON.stringify([{ call: "pay" }]) });
  const watch = client.watch(onScreen.sessionId);
  const [screen, pay] = [await readPendingCall(onScreen.runId), await readPendingCall(ofMoney.runId)];
  const other = client.runs.approve(ofMoney.runId, pay.callId, { digest: "of something else" });
  await expect(other).rejects.toMatchObject({ code: "approval_mismatch" });
  await server.kill();
  const { digest } = pay;
  const answered = [
    client.runs.answer(onScreen.runId, screen.callId, "The harbour."),
    client.runs.approve(ofMoney.runId, pay.callId, { digest }),
    client.runs.approve(ofMoney.runId, pay.callId, { digest }),
  ];
  server = await startServerWorker(order);
  await Promise.all(answered);
  expect(await readLast(client.runs.events(onScreen.runId, { after: screen.after }))).toMatchObject({
    type: "done",
    text: "Done: The harbour.",
  });
  expect(await readLast(client.runs.events(ofMoney.runId, { after: pay.after }))).toMatchObject({
    type: "done",
    text: "Done: paid",
  });
  expect(readFileSync(order.canary, "utf8").match(/^pay /gm)).toHaveLength(1);
  await expect.poll(() => watch.view().status).toBe("done");
  expect(watch.view()).toEqual(buildView(await readStoredFacts(onScreen.sessionId)));
  watch.close();
});
