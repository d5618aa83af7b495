import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { type Event, isFact } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import type { Store } from "../runtime/store.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { ReplayOptions } from "./replay.ts";
import { session } from "./session.ts";

const answer = "An answer 👩‍💻 of some length, so that it comes in several pieces. ".repeat(3);

async function recordSession() {
  const store = memory();
  const calls: string[] = [];
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    effects: "none",
    execute: () => calls.push("look"),
  });
  const model = scriptedModel([
    {
      reasoning: "Hm, let me think about it for a while.",
      calls: [{ name: "look", input: { where: "there" } }],
    },
    { text: answer },
    { text: "Bye." },
  ]);
  let now = 0;
  const clock = { ...fakeClock(), now: () => (now += 100) };
  const agent = defineAgent({ name: "a", model, tools: [look] });
  const live = await collect(run(agent, "Hi.", { store, session: "s1", runId: "r1", clock }));
  await run(agent, "Bye.", { store, session: "s1", runId: "r2", clock });
  return { store, model, calls, live };
}

async function replayEvents(store: Store, options?: ReplayOptions): Promise<Event[]> {
  return Array.fromAsync(session(store, "s1").replay(options));
}

/** Records every use of the store except `read`. */
function withReadOnlyCheck(store: Store, used: string[]): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name !== "read") used.push(String(name));
      return Reflect.get(target, name);
    },
  });
}

const joinDeltas = (events: readonly Event[], type: string) =>
  events.map((event) => (event.type === type && "delta" in event ? event.delta : "")).join("");

describe("a replay", () => {
  it("yields the recorded facts in order and executes nothing: no model, no tool, no lease, no write", async () => {
    const { store, model, calls } = await recordSession();
    const before = [model.requests.length, calls.length];
    const used: string[] = [];
    expect(await replayEvents(withReadOnlyCheck(store, used), { deltas: true })).toHaveLength(
      (await replayEvents(store, { deltas: true })).length,
    );
    expect(await replayEvents(withReadOnlyCheck(store, used))).toEqual(await store.read("s1"));
    expect(used).toEqual([]);
    expect([model.requests.length, calls.length]).toEqual(before);
  });

  it("can be limited to one run or start at a position", async () => {
    const { store, live } = await recordSession();
    const facts = await store.read("s1");
    expect(await replayEvents(store, { runId: "r1" })).toEqual(live.facts);
    expect(await replayEvents(store, { from: 5 })).toEqual(facts.slice(4));
    expect(await replayEvents(store, { from: 1000 })).toEqual([]);
    await expect(replayEvents(store, { runId: "r9" })).rejects.toMatchObject({ code: "unknown_run" });
  });

  it("rebuilds deltas from stored messages for clients (S1-34)", async () => {
    const { store, live } = await recordSession();
    const events = await replayEvents(store, { runId: "r1", deltas: true });
    expect(events.filter(isFact)).toEqual(live.facts);
    for (const type of ["content_delta", "reasoning_delta", "tool_call_delta"])
      expect(joinDeltas(events, type)).toBe(joinDeltas(live.events, type));
    const pieces = events.flatMap((event) => (event.type === "content_delta" ? [event.delta] : []));
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  });

  it("keeps the original timing, scaled by speed", async () => {
    const { store } = await recordSession();
    const facts = await store.read("s1");
    const took = (facts.at(-1)?.at ?? 0) - (facts[0]?.at ?? 0);
    for (const [speed, deltas] of [
      [1, false],
      [4, true],
    ] as const) {
      const clock = fakeClock({ skipUpToMs: 1_000_000 });
      const begin = clock.now();
      await replayEvents(store, { speed, deltas, clock });
      expect(clock.now() - begin).toBeCloseTo(took / speed, 1);
    }
    await expect(replayEvents(store, { speed: 0 })).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("stops when aborted", async () => {
    const { store } = await recordSession();
    const stop = new AbortController();
    const replaying = session(store, "s1").replay({ speed: 1, signal: stop.signal, clock: fakeClock() });
    await replaying.next();
    const next = replaying.next();
    stop.abort();
    await expect(next).rejects.toThrow("aborted");
  });
});
