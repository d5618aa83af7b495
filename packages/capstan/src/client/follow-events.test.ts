import { array, assert, asyncProperty, boolean, integer, tuple } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import type { Policy } from "../kernel/policy.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type ClientOptions, createClient } from "./create-client.ts";
import type { Fetch } from "./environment.ts";
import type { ConnectionState } from "./follow-stream.ts";
import { buildView, reduce } from "./reduce.ts";
import { emptyView } from "./session-view.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  effects: "none",
  execute: () => "Seen: café 🙂",
});
const said = ["Let me look.", "It is a café 🙂 by the sea."];
let events: readonly Event[];

beforeAll(async () => {
  const model = scriptedModel([
    { text: said[0] ?? "", calls: [{ id: "c", name: "look" }], split: 6 },
    { text: said[1] ?? "", split: 10 },
  ]);
  const agent = defineAgent({ name: "a", model, tools: [look] });
  const options = { store: memory(), session: "s", runId: "r", clock: fakeClock() };
  // Without its long policy: there are enough places for a cut.
  events = (await collect(run(agent, "Go", options))).events.map((event) =>
    event.type === "run_start" ? { ...event, policy: {} as Policy } : event,
  );
});

function formatFrame(event: Event): string {
  const id = isFact(event) ? `id: ${event.seq}\n` : "";
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** What a server has to say to one who knows all facts up to `after`, with what was said so far of a message. */
function buildBody(after: number, from: readonly Event[] = events): Uint8Array {
  const start = from.findLastIndex((event) => isFact(event) && event.seq <= after) + 1;
  return new TextEncoder().encode(`: hello\n\n${from.slice(start).map(formatFrame).join("")}`);
}

/** The length of the first events. */
const measureFirstFrames = () => buildBody(0, events.slice(0, 3)).length;

/** One connection: its bytes in pieces, up to a cut, and how it ends. */
type Plan = { readonly cut: number; readonly piece: number; readonly how: "cut" | "closed" | "hangs" };

function createByteStream(bytes: Uint8Array, { cut, piece, how }: Plan): ReadableStream<Uint8Array> {
  let at = 0;
  const end = Math.min(cut, bytes.length);
  return new ReadableStream({
    pull(controller) {
      if (at < end) {
        controller.enqueue(bytes.slice(at, Math.min(end, at + piece)));
        at += piece;
        return undefined;
      }
      if (how === "hangs") return new Promise(() => undefined);
      if (how === "closed" || cut >= bytes.length) return controller.close();
      return controller.error(new TypeError("terminated"));
    },
  });
}

const whole: Plan = { cut: Number.POSITIVE_INFINITY, piece: 1000, how: "closed" };
const createStreamResponse = (body: ReadableStream<Uint8Array> | string, status = 200) =>
  new Response(body, { status, headers: { "content-type": "text/event-stream; charset=utf-8" } });

/** A server whose connections go as planned; behind the plans all is well. */
function serve(...plans: readonly (Plan | Response | Error)[]): Served {
  return serveEvents(events, plans);
}

type Served = {
  fetch: Fetch;
  readonly asked: readonly (number | string)[];
};

function serveEvents(all: readonly Event[], plans: readonly (Plan | Response | Error)[]): Served {
  const asked: (number | string)[] = [];
  return {
    asked,
    async fetch(url, { headers }) {
      const path = new URL(url).pathname;
      if (!path.endsWith("/events")) {
        asked.push(path);
        return Response.json({ runId: "r", sessionId: "s", state: "ended", runs: [] });
      }
      const after = Number(new Headers(headers).get("last-event-id") ?? 0);
      const plan = plans[asked.filter((ask) => typeof ask === "number").length] ?? whole;
      asked.push(after);
      if (plan instanceof Error) throw plan;
      return plan instanceof Response
        ? plan
        : createStreamResponse(createByteStream(buildBody(after, all), plan));
    },
  };
}

const createTestClient = (options: ClientOptions) =>
  createClient({ baseURL: "http://127.0.0.1:1", clock: fakeClock({ skipUpToMs: 10_000 }), ...options });

async function collectEvents(fetch: Fetch): Promise<Event[]> {
  const received: Event[] = [];
  for await (const event of createTestClient({ fetch }).runs.events("r")) received.push(event);
  return received;
}

/** Every fact once and in order, and never a word twice in what is shown. */
function expectComplete(received: readonly Event[], all = events): void {
  const facts = received.filter(isFact);
  // Compared as text first: it is done thousands of times.
  if (JSON.stringify(facts) !== JSON.stringify(all.filter(isFact))) expect(facts).toEqual(all.filter(isFact));
  let view = emptyView;
  for (const event of received) {
    view = reduce(view, event);
    const { text } = view.live;
    if (!said.some((words) => words.startsWith(text))) expect(text).toBe("the beginning of a message");
  }
  if (JSON.stringify(view) !== JSON.stringify(buildView(all))) expect(view).toEqual(buildView(all));
}

describe("an event subscription", () => {
  it("receives the same events when its connection is cut at any byte (F81)", async () => {
    const firstMessage = events.findIndex(({ type }) => type === "message");
    const short = [...events.slice(0, firstMessage + 1), ...events.slice(-1)];
    const { length } = buildBody(0, short);
    async function hearWithCut(cut: number): Promise<void> {
      const server = serveEvents(short, [{ cut, piece: 10_000, how: "cut" }]);
      expectComplete(await collectEvents(server.fetch), short);
      expect(server.asked.length, `cut at ${cut}`).toBe(cut === length ? 1 : 2);
    }
    const together = 250;
    for (let cut = 0; cut <= length; cut += together)
      await Promise.all(
        Array.from({ length: Math.min(together, length - cut + 1) }, (_, n) => hearWithCut(cut + n)),
      );
  });

  it("receives the same events over any sequence of connections (F81)", async () => {
    const { length } = buildBody(0);
    const plans = array(
      tuple(integer({ min: 0, max: length }), integer({ min: 1, max: 300 }), boolean()).map(
        ([cut, piece, isClosed]): Plan => ({ cut, piece, how: isClosed ? "closed" : "cut" }),
      ),
      { maxLength: 8 },
    );
    const property = asyncProperty(plans, async (given) => {
      expectComplete(await collectEvents(serve(...given).fetch));
    });
    await assert(property, { numRuns: 150 });
  });

  it("receives no fact twice, even if all are sent again", async () => {
    let connections = 0;
    const fetch: Fetch = async () => {
      const cut = connections++ < 3 ? connections * 1000 : Number.POSITIVE_INFINITY;
      return createStreamResponse(createByteStream(buildBody(0), { cut, piece: 700, how: "cut" }));
    };
    const received = await collectEvents(fetch);
    expect(received.filter(isFact)).toEqual(events.filter(isFact));
    expect(connections).toBe(4);
  });

  it("restarts an interrupted message once before its deltas are sent again", async () => {
    const text = new TextDecoder().decode(buildBody(0));
    const cut = text.indexOf("content_delta", text.indexOf("content_delta") + 1) + 400;
    const received = await collectEvents(serve({ cut, piece: 50, how: "cut" }).fetch);
    const at = received.findIndex(({ type }) => type === "message_restart");
    expect(received.filter(({ type }) => type === "message_restart")).toEqual([
      { type: "message_restart", reason: "reconnected", runId: "r", sessionId: "s", agent: "a", turn: 1 },
    ]);
    expect(received[at + 1]?.type).toBe("content_delta");
  });

  it("reconnects when the server shuts down, is full, is away, or sends invalid data", async () => {
    const draining = `${formatFrame(events[0] as Event)}event: server_draining\ndata: {"retryMs":1000}\n\n`;
    const server = serve(
      createStreamResponse(draining),
      new Response("<h1>Bad gateway</h1>", { status: 502 }),
      Response.json({ error: { code: "draining", message: "Leaving.", retryable: true } }, { status: 503 }),
      new TypeError("fetch failed"),
      createStreamResponse('event: stream_error\ndata: {"code":"aborted"}\n\n'),
      createStreamResponse("id: 2\nevent: message\ndata: {not json\n\n"),
    );
    const states: ConnectionState[] = [];
    const received: Event[] = [];
    const { runs } = createTestClient({ fetch: server.fetch });
    for await (const event of runs.events("r", { onState: (state) => states.push(state) }))
      received.push(event);
    expectComplete(received);
    expect(server.asked).toEqual([0, 1, 1, 1, 1, 1, 1]);
    const lost = states.filter((state) => state.type === "lost");
    expect(lost.map(({ error }) => error.code)).toEqual([
      ...[
        "draining",
        "server_unreachable",
        "draining",
        "server_unreachable",
        "aborted",
        "server_unreachable",
      ],
    ]);
    expect(lost[0]?.retryInMs).toBeGreaterThanOrEqual(1000);
    expect(states.filter(({ type }) => type === "open")).toHaveLength(4);
    expect(states.at(-1)).toEqual({ type: "open" });
  });

  it("backs off up to five seconds until it gives up", async () => {
    const states: ConnectionState[] = [];
    const iteration = createTestClient({
      fetch: () => Promise.reject(new TypeError("fetch failed")),
    }).runs.events("r", { onState: (state) => states.push(state), giveUpAfterMs: 60_000 });
    await expect(iteration.next()).rejects.toMatchObject({ code: "server_unreachable" });
    const waits = states.flatMap((state) => (state.type === "lost" ? state.retryInMs : []));
    expect(waits.length).toBeGreaterThan(12);
    for (const [n, wait] of waits.entries()) {
      const most = Math.min(5000, 250 * 2 ** n);
      expect(wait).toBeGreaterThanOrEqual(most / 2);
      expect(wait).toBeLessThanOrEqual(most);
    }
  });

  it("ends with a permanent error of the server", async () => {
    const error = { code: "unknown_run", message: 'There is no run "r".', retryable: false };
    const { fetch, asked } = serve(Response.json({ error }, { status: 404 }));
    await expect(collectEvents(fetch)).rejects.toMatchObject({ code: "unknown_run", message: error.message });
    await expect(collectEvents(serve(new Response("<html>")).fetch)).rejects.toMatchObject({
      code: "server_unreachable",
      retryable: false,
    });
    expect(asked).toEqual([0]);
  });

  it("drops a silent connection after 45 seconds, but not while the consumer is idle", async () => {
    const clock = fakeClock();
    const server = serve({ cut: measureFirstFrames(), piece: 10_000, how: "hangs" });
    const iteration = createClient({ baseURL: "http://127.0.0.1:1", fetch: server.fetch, clock }).runs.events(
      "r",
    );
    const first = (await iteration.next()).value as Fact;
    await clock.advance(600_000); // a reader that takes its time
    const received: Event[] = [first];
    let step = iteration.next();
    for (let waited = 0; ; ) {
      const next = await Promise.race([step, new Promise<undefined>((resolve) => setTimeout(resolve, 5))]);
      if (next === undefined) {
        if (server.asked.length === 1) expect(waited).toBeLessThan(60_000);
        await clock.advance(5_000);
        waited += 5_000;
        continue;
      }
      if (next.done) break;
      received.push(next.value);
      step = iteration.next();
    }
    expectComplete(received);
    expect(server.asked).toHaveLength(2);
  });

  it("ends when it is aborted or returned, and closes the connection", async () => {
    const signals: AbortSignal[] = [];
    const fetch: Fetch = async (_, init) => {
      signals.push(init.signal as AbortSignal);
      return createStreamResponse(
        createByteStream(buildBody(0), { cut: measureFirstFrames(), piece: 10_000, how: "hangs" }),
      );
    };
    const stop = new AbortController();
    const aborted = createTestClient({ fetch }).runs.events("r", { signal: stop.signal });
    await aborted.next();
    const rest = (async () => {
      for await (const _ of aborted);
    })();
    stop.abort();
    await rest;
    for await (const _ of createTestClient({ fetch }).runs.events("r")) break;
    const left = createTestClient({ fetch }).runs.events("r");
    const pending = (async () => {
      for await (const _ of left);
    })();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await left.return?.();
    await pending;
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true, true]);
    const never = createTestClient({ fetch }).runs.events("r", { signal: AbortSignal.abort() });
    expect(await never.next()).toEqual({ done: true, value: undefined });
  });

  it("ends when it starts after the end of a run", async () => {
    const seq = events.findLast(isFact)?.seq ?? 0;
    const server = serve();
    const iteration = createTestClient({ fetch: server.fetch }).runs.events("r", { after: seq });
    expect(await iteration.next()).toEqual({ done: true, value: undefined });
    expect(server.asked).toEqual([seq, seq, "/api/runs/r"]);
  });
});
