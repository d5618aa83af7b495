import { assert, asyncProperty, boolean, infiniteStream } from "fast-check";
import { describe, expect, it } from "vitest";
import { agentTool } from "../features/nested/agent-tool.ts";
import { defineAgent } from "../kernel/agent.ts";
import { type Delta, type Event, type Fact, isFact } from "../kernel/event.ts";
import { defineTool, type Tool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { session } from "../sessions/session.ts";
import { sessions } from "../sessions/sessions.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import {
  arbitraryRunPlan,
  createExecutionRecord,
  createPlannedAgent,
  createSimulatedUser,
  runToEnd,
} from "../testing/run-plan.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { buildView, reduce } from "./reduce.ts";
import { emptyView, type SessionView } from "./session-view.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  effects: "none",
  reads: ["public"],
  execute(_, { progress }) {
    progress({ half: true });
    return { content: "seen", contexts: [{ id: "d", content: "D.", source: { title: "Doc" } }] };
  },
});
const ask = defineTool({
  name: "ask",
  description: "Asks",
  input: { type: "object" },
  needsApproval: "It writes.",
  execute: () => "done",
});
const client = defineTool({ name: "client", description: "The client's", input: { type: "object" } });

async function collectRunEvents(...steps: ScriptedStep[]): Promise<Event[]> {
  const agent = defineAgent({ name: "a", model: scriptedModel(steps), tools: [look, ask, client] });
  const options = { store: memory(), session: "s", runId: "r", clock: fakeClock({ skipUpToMs: 30_000 }) };
  return (await collect(run(agent, "Go", options))).events;
}

/** The views after each event, beginning with the empty one. */
function reduceEach(events: readonly Event[]): SessionView[] {
  const views = [emptyView];
  for (const event of events) views.push(reduce(views.at(-1) ?? emptyView, event));
  return views;
}

describe("reduce", () => {
  it("replaces the failed end of a run that is retried by a notice", async () => {
    const store = memory();
    const steps: ScriptedStep[] = [{ error: "model_auth" }, { text: "Whole." }];
    const agent = defineAgent({ name: "a", model: scriptedModel(steps) });
    const handle = run(agent, "Go", { store, session: "s", runId: "r" });
    await handle;
    const failed = buildView(await store.read("s"));
    expect(failed.entries.map(({ type }) => type)).toEqual(["user", "assistant"]);
    expect(failed.runs.get("r")).toMatchObject({ end: { canRetry: true } });
    await handle.retry();
    const facts = await store.read("s");
    const reopened = buildView(facts.slice(0, facts.findIndex(({ type }) => type === "retried") + 1));
    expect(reopened).toMatchObject({ status: "running", stage: "processing" });
    expect(reopened.runs.get("r")?.end).toBeUndefined();
    expect(reopened.entries).toMatchObject([
      { type: "user" },
      { type: "notice", code: "retried", message: "Retried after a failure: Scripted: model_auth." },
    ]);
    expect(buildView(facts).entries.at(-1)).toMatchObject({ type: "assistant", text: "Whole." });
  });

  it("says what was discarded when a model fails in the middle of its answer", () => {
    const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1 };
    const error = { code: "stream_truncated", message: "Cut off.", retryable: true };
    const bodies = [
      { type: "run_start", input: [], policy: {}, seq: 1 },
      { type: "turn_start", turn: 1, seq: 2 },
      { type: "content_delta", delta: "Snow fa" },
      { type: "message_restart", reason: "stream_truncated", model: "one", discarded: 7 },
      { type: "retry", attempt: 1, code: "stream_truncated", message: "Cut off.", waitMs: 500, at: 1500 },
      { type: "content_delta", delta: "It ra" },
      { type: "model_failed", model: "one", attempts: 2, discarded: 5, error, seq: 3 },
    ];
    const events = bodies.map((body) => ({ ...origin, at: 0, id: "", ...body }) as unknown as Event);
    expect(buildView(events.slice(0, 5)).live).toMatchObject({
      ...{ text: "", retry: { attempt: 1, message: "Cut off.", at: 1500 } },
      discarded: { reason: "stream_truncated", model: "one", discarded: 7 },
    });
    const { live } = buildView(events.slice(0, 6));
    expect([live.text, live.retry, live.discarded?.discarded]).toEqual(["It ra", undefined, 7]);
    expect(buildView(events)).toMatchObject({
      live: { text: "" },
      entries: [
        { type: "notice", code: "answer_discarded", message: expect.stringContaining("5 characters") },
      ],
    });
  });

  it("counts the failures that a run waits out, until a model answers", () => {
    const origin = { runId: "r", sessionId: "s", agent: "a", turn: 1, at: 0, id: "" };
    const error = { code: "model_overloaded", message: "Busy.", retryable: true };
    const failure = { type: "model_failed", model: "m", attempts: 2, error, isParked: true };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const entry = { type: "assistant", parts: [{ type: "text", text: "Hi." }] };
    const bodies = [
      { type: "run_start", input: [], policy: {} },
      ...[failure, { type: "waiting", callIds: [], until: 1000 }],
      ...[failure, { type: "waiting", callIds: [], until: 3000 }],
      { type: "message", entry, usage },
    ];
    const facts = bodies.map((body, index) => ({ ...origin, ...body, seq: index + 1 }) as unknown as Fact);
    const waiting = buildView(facts.slice(0, -1));
    expect(waiting.status).toBe("waiting");
    expect(waiting.runs.get("r")).toMatchObject({
      ...{ resumesAt: 3000, outage: { model: "m", error, attempts: 4 } },
    });
    const { outage, resumesAt } = buildView(facts).runs.get("r") ?? {};
    expect([outage, resumesAt]).toEqual([undefined, undefined]);
  });

  it("builds a session from messages, calls and citations", async () => {
    const events = await collectRunEvents(
      { reasoning: "Hm.", text: "Wait.", calls: [{ id: "c", name: "look", input: { n: 1 } }] },
      { text: "Seen [1], not [2]." },
    );
    const about = { type: "assistant", runId: "r", agent: "a" };
    expect(buildView(events)).toEqual({
      ...emptyView,
      seq: events.findLast(isFact)?.seq,
      status: "done",
      runId: "r",
      turn: 2,
      usage: { inputTokens: 20, outputTokens: 10 },
      stage: "complete",
      runs: new Map([["r", expect.objectContaining({ rootRunId: "r", inputTokens: 10 })]]),
      fragments: new Map([["d", expect.objectContaining({ id: "d" })]]),
      entries: [
        { type: "user", runId: "r", seq: 1, content: "Go" },
        {
          ...about,
          ...{ seq: 3, turn: 1, ms: 0 },
          text: "Wait.",
          reasoning: "Hm.",
          citations: [],
          media: [],
          calls: [{ id: "c", name: "look", input: { n: 1 }, state: "ok", result: "seen", ms: 0, seq: 4 }],
        },
        {
          ...{ ...about, seq: 8, turn: 2, ms: 0, text: "Seen [1], not.", reasoning: "" },
          citations: [{ n: 1, id: "d", title: "Doc" }],
          media: [],
          calls: [],
        },
        expect.objectContaining({ type: "notice", code: "citation_unknown" }),
      ],
    });
  });

  it("finds runs, nested views, passages and hints without reading the facts again", async () => {
    const inner = defineAgent({
      name: "inner",
      model: scriptedModel([{ calls: [{ id: "n", name: "look", input: { n: 2 } }] }, { text: "Found." }]),
      tools: [look],
    });
    const steps = [{ calls: [{ id: "h", name: "helper", input: { prompt: "Look" } }] }, { text: "Done." }];
    const tools = [agentTool(inner, { name: "helper" })];
    const agent = defineAgent({ name: "a", model: scriptedModel(steps), tools });
    const { events } = await collect(run(agent, "Go", { store: memory(), runId: "r" }));
    const facts = events.filter(isFact);
    const view = buildView(facts);
    const [outer, nested] = [...view.runs.values()];
    expect([outer?.start?.seq, outer?.end?.status, outer?.rootRunId]).toEqual([1, "done", "r"]);
    expect([nested?.rootRunId, nested?.end?.status]).toEqual(["r", "done"]);
    const inside = facts.filter(({ parentCallId }) => parentCallId === "h");
    const own = inside.map(({ parentRunId: _, parentCallId: __, ...fact }) => fact as Fact);
    expect(view.nested.get("h")).toEqual(buildView(own));
    expect(view.fragments.get("d")?.source.title).toBe("Doc");
    // Earlier views do not change.
    const views = reduceEach(facts);
    expect(views[2]).toEqual(buildView(facts.slice(0, 2)));
    expect(views.at(-1)).toEqual(view);
  });

  it("shows live text, calls and progress of nested runs, at any depth, until their facts replace them", async () => {
    const nest = (name: string, tool: Tool, steps: ScriptedStep[]) =>
      agentTool(defineAgent({ name, model: scriptedModel(steps), tools: [tool] }), { name });
    const steps = (id: string, name: string, prompt: string): ScriptedStep[] => [
      { text: `Use ${name}.`, calls: [{ id, name, input: { prompt } }], split: 4 },
      { text: `${name} is done.`, split: 4 },
    ];
    const deep = nest("deep", look, steps("n", "look", "x"));
    const helper = nest("helper", deep, steps("d", "deep", "y"));
    const model = scriptedModel(steps("h", "helper", "z"));
    const agent = defineAgent({ name: "a", model, tools: [helper] });
    const { events } = await collect(run(agent, "Go", { store: memory(), runId: "r" }));
    const views = reduceEach(events);
    const lives = (callId: string) => views.flatMap(({ nested }) => nested.get(callId)?.live ?? []);
    expect(lives("h").map(({ text }) => text)).toEqual(expect.arrayContaining(["Use ", "deep is done."]));
    expect(lives("h.d").map(({ text }) => text)).toEqual(expect.arrayContaining(["Use ", "look is done."]));
    expect(lives("h").some(({ calls }) => calls[0]?.arguments === '{"prompt":"y"}')).toBe(true);
    expect(lives("h.d").some(({ progress }) => progress[0]?.callId === "h.d.n")).toBe(true);
    const reconnected = { type: "message_restart", reason: "reconnected" } as const;
    const at = events.findLastIndex(
      (event) => event.type === "content_delta" && event.parentCallId === "h.d",
    );
    const { runId, sessionId, agent: name, turn, parentRunId, parentCallId } = events[at] as Delta;
    const origin = { runId, sessionId, agent: name, turn } as const;
    const restart = { ...reconnected, ...origin, parentRunId, parentCallId } as Delta;
    const restarted = buildView([...events.slice(0, at + 1), restart]);
    expect(buildView(events.slice(0, at + 1)).nested.get("h.d")?.live.text).toBe("look is done.");
    expect(restarted.nested.get("h.d")?.live.text).toBe("");
    expect(buildView(events)).toEqual(buildView(events.filter(isFact)));
    // Earlier views do not change.
    expect(views[at + 1]).toEqual(buildView(events.slice(0, at + 1)));
  });

  it("shows live text, calls and citations", async () => {
    const events = await collectRunEvents(
      { text: "Half", error: "model_failed" },
      { text: "Wait.", calls: [{ id: "c", name: "look", input: { n: 1 } }], split: 4 },
      { text: "Seen [1].", split: 4 },
    );
    const lives = reduceEach(events).map(({ live }) => live);
    expect(new Set(lives.map(({ text }) => text))).toEqual(
      new Set(["", "Half", "Wait", "Wait.", "Seen", "Seen [1]."]),
    );
    expect(lives.some(({ retry }) => retry?.code === "model_failed")).toBe(true);
    expect(lives.some(({ calls }) => calls[0]?.arguments === '{"n":1}')).toBe(true);
    expect(lives.some(({ progress }) => progress[0]?.callId === "c")).toBe(true);
    expect(lives.some(({ citations }) => citations[0]?.title === "Doc")).toBe(true);
    const states = reduceEach(events).flatMap(({ entries }) =>
      entries.flatMap((entry) => (entry.type === "assistant" ? entry.calls.map(({ state }) => state) : [])),
    );
    expect([...new Set(states)]).toEqual(["said", "running", "ok"]);
  });

  it("lists pending approvals and client calls until they are answered", async () => {
    const calls = [
      { id: "a", name: "ask" },
      { id: "b", name: "client" },
    ];
    const model = scriptedModel([{ calls }, { text: "Done." }]);
    const running = run(defineAgent({ name: "a", model, tools: [ask, client] }), "Go", { store: memory() });
    const first = await collect(running);
    const waiting = buildView(first.events);
    expect(waiting.status).toBe("waiting");
    expect(waiting.pending).toEqual([
      expect.objectContaining({ callId: "a", name: "ask", needs: "approval", reason: "It writes." }),
      { callId: "b", name: "client", needs: "answer" },
    ]);
    running.approve("a").answer("b", "yes");
    const second = await collect(running);
    const end = second.events.reduce(reduce, waiting);
    expect([end.status, end.pending]).toEqual(["done", []]);
  });

  it("says who wrote an imported message, and asks for no approval of a call that will not be made", async () => {
    const store = memory();
    const agent = defineAgent({
      name: "a",
      model: scriptedModel([{ calls: [{ name: "ask" }] }]),
      tools: [ask],
    });
    await run(agent, "Go", { store, session: "s" });
    expect(buildView(await store.read("s"))).toMatchObject({
      ...{ status: "waiting", pending: [{ name: "ask" }], entries: [{ content: "Go" }, {}] },
    });
    const copy = await sessions(memory()).import(await session(store, "s").export("json"));
    expect(buildView(await copy.facts())).toMatchObject({
      ...{ status: "waiting", pending: [], entries: [{ content: "Go", provenance: "external" }, {}] },
    });
  });

  it("shows an answer that is only media once, with its handle", async () => {
    const { entries } = buildView(
      await collectRunEvents({ media: [{ mediaType: "image/png", data: "aGk=" }] }),
    );
    const media = [{ type: "media", mediaType: "image/png", handle: "blob_1", size: 2 }];
    expect(entries.slice(1)).toMatchObject([{ type: "assistant", text: "", media }]);
  });

  it("adds an answer that no model wrote, and the error of a failed run", async () => {
    const view = buildView(await collectRunEvents({ error: "content_filter" }));
    expect(view.status).toBe("failed");
    expect(view.error?.code).toBe("content_filter");
    expect(view.entries.at(-1)).toMatchObject({ type: "assistant", text: expect.stringMatching(/filter/) });
  });

  it("continues with the next run, and starts over when the client sends the whole history", async () => {
    const store = memory();
    const agent = (text: string) => defineAgent({ name: "a", model: scriptedModel([{ text }]) });
    const first = await collect(run(agent("One."), "1", { store, session: "s" }));
    const second = await collect(run(agent("Two."), "2", { store, session: "s" }));
    const texts = (view: SessionView) =>
      view.entries.map((entry) =>
        entry.type === "user" ? entry.content : entry.type === "assistant" ? entry.text : entry.code,
      );
    expect(texts(buildView([...first.events, ...second.events]))).toEqual(["1", "One.", "2", "Two."]);
    const third = await collect(
      run(agent("Three."), [...second.result.history, { type: "user", content: "3" }], {
        store,
        session: "s",
        policy: { memory: "client" },
      }),
    );
    expect(texts(buildView([...first.events, ...second.events, ...third.events]))).toEqual([
      ...["1", "One.", "2", "Two.", "3", "Three."],
    ]);
  });

  it("gives the same view from facts alone, from all events, and from any of the deltas; repeated facts change nothing", async () => {
    const property = asyncProperty(arbitraryRunPlan, infiniteStream(boolean()), async (plan, coins) => {
      const people = createSimulatedUser(plan);
      const options = {
        store: memory(),
        clock: fakeClock({ skipUpToMs: 60_000 }),
        hooks: { onEvent: people.onEvent },
      };
      const running = run(createPlannedAgent(plan, createExecutionRecord()), "Go.", options);
      people.join(running);
      const { events } = await runToEnd(plan, running);
      const facts = events.filter(isFact);
      const view = buildView(events);
      expect(buildView(facts)).toEqual(view);
      expect(buildView(events.filter((event) => isFact(event) || coins.next().value))).toEqual(view);
      expect(buildView([...events.slice(0, events.length / 2), ...facts])).toEqual(view);
      // Wherever the run rests, nothing is left of what was live.
      for (const [at, fact] of facts.entries())
        if (fact.type === "waiting") expect(buildView(facts.slice(0, at + 1)).live).toEqual(emptyView.live);
    });
    await assert(property, { numRuns: 60 });
  });
});
