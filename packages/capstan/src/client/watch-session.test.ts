import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { readCpuMs } from "../testing/cpu-time.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createClient } from "./create-client.ts";
import { buildView, reduce, reduceAll } from "./reduce.ts";
import { emptyView } from "./session-view.ts";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

async function collectRunEvents(text: string): Promise<readonly Event[]> {
  const agent = defineAgent({ name: "a", model: scriptedModel([{ text, split: 3 }]) });
  return (await collect(run(agent, "Go", { store: memory(), session: "s", runId: "r" }))).events;
}

/** A server of one session, whose answers to what it is told are given. */
function createFetch(answers: Readonly<Record<string, () => Response>>) {
  const told: string[] = [];
  let writer: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      writer = controller;
    },
  });
  const client = createClient({
    baseURL: "http://127.0.0.1:1",
    fetch: async (url, { method, body: sent }) => {
      const { pathname } = new URL(url);
      if (pathname.endsWith("/events"))
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      told.push(`${method} ${pathname}${typeof sent === "string" ? ` ${sent}` : ""}`);
      return answers[`${method} ${pathname}`]?.() ?? Response.json({ runId: "r2", sessionId: "s", runs: [] });
    },
  });
  return {
    told,
    client,
    say(events: readonly Event[]) {
      const frames = events.map((event) => {
        return `${isFact(event) ? `id: ${event.seq}\n` : ""}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
      });
      writer?.enqueue(new TextEncoder().encode(frames.join("")));
    },
  };
}

const waitForFrame = () => new Promise((resolve) => setTimeout(resolve, 60));

describe("a watched session", () => {
  it("shows events and notifies once per batch", async () => {
    const server = createFetch({});
    const watch = server.client.watch("s");
    expect([watch.view(), watch.state()]).toEqual([emptyView, { type: "connecting" }]);
    let calls = 0;
    const leave = watch.subscribe(() => calls++);
    await waitForFrame();
    const events = await collectRunEvents("It is there, and has always been there.");
    const before = calls;
    server.say(events);
    await expect.poll(() => watch.view()).toEqual(buildView(events));
    await expect.poll(() => calls - before).toBeGreaterThan(0);
    expect(watch.view()).toBe(watch.view());
    expect(watch.facts()).toEqual(events.filter(isFact));
    expect(watch.state()).toEqual({ type: "open" });
    expect(calls - before).toBeLessThan(events.length / 2);
    leave();
    const last = calls;
    watch.close();
    await expect.poll(() => watch.state()).toEqual({ type: "ended" });
    expect(calls).toBe(last);
  });

  it("starts a run with each message, also while one is active: the server decides when", async () => {
    const server = createFetch({});
    const watch = server.client.watch("s");
    const events = await collectRunEvents("Done.");
    server.say(events.slice(0, 3));
    await expect.poll(() => watch.view()).toEqual(buildView(events.slice(0, 3)));
    await watch.send("Faster!");
    server.say(events.slice(3));
    await expect.poll(() => watch.view()).toEqual(buildView(events));
    await watch.send("And now?", { agent: "b", policy: { onBusy: "steer" } });
    watch.close();
    expect(server.told).toEqual([
      `POST /api/runs {"input":"Faster!","sessionId":"s","timeZone":"${zone}"}`,
      `POST /api/runs {"agent":"b","policy":{"onBusy":"steer"},"input":"And now?","sessionId":"s","timeZone":"${zone}"}`,
    ]);
  });

  it("continues a paused run, which nothing else would continue", async () => {
    const server = createFetch({});
    const watch = server.client.watch("s");
    const [start] = await collectRunEvents("Done.");
    const paused = { ...start, type: "waiting", id: "w", seq: 2, callIds: [] } as unknown as Event;
    server.say([start as Event, paused]);
    await expect.poll(() => watch.view().status).toBe("waiting");
    await watch.send("Go on.");
    watch.close();
    expect(server.told).toEqual(['POST /api/runs/r/steer {"text":"Go on."}']);
  });

  it("does not continue a paused run with a text that the user did not write (A146)", async () => {
    const server = createFetch({});
    const watch = server.client.watch("s");
    const [start] = await collectRunEvents("Done.");
    const paused = { ...start, type: "waiting", id: "w", seq: 2, callIds: [] } as unknown as Event;
    server.say([start as Event, paused]);
    await expect.poll(() => watch.view().status).toBe("waiting");
    await watch.send("Go on.", { provenance: "application" });
    watch.close();
    expect(server.told).toEqual([expect.stringMatching(/^POST \/api\/runs {"provenance":"application"/)]);
  });

  it("ends when the session does not exist", async () => {
    const error = { code: "not_found", message: "There is no session.", retryable: false };
    const fetch = async () => Response.json({ error }, { status: 404 });
    const watch = createClient({ baseURL: "http://127.0.0.1:1", fetch }).watch("s");
    await expect.poll(() => watch.state()).toMatchObject({ type: "ended", error: { code: "not_found" } });
  });
});

describe("reduce", () => {
  it("folds ten thousand events quickly, for one long answer and for many short ones", async () => {
    const [start, turn, delta] = (await collectRunEvents("abc")).filter(
      ({ type }) => type === "run_start" || type === "turn_start" || type === "content_delta",
    );
    const message = (await collectRunEvents("abc")).find(({ type }) => type === "message");
    if (!start || !turn || !delta || !message) throw new Error("The run has said nothing.");
    const long = [start, turn, ...Array.from({ length: 10_000 }, () => delta)];
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      ...((n % 3 === 0 ? start : n % 3 === 1 ? turn : message) as Event),
      seq: n + 1,
    })) as Event[];
    for (const events of [long, many]) {
      const before = readCpuMs();
      const view = buildView(events);
      const ms = readCpuMs() - before;
      expect(view.live.text.length + view.entries.length).toBeGreaterThan(5000);
      expect(ms).toBeLessThan(1000);
      expect(events.slice(0, 1000).reduce(reduce, emptyView)).toEqual(buildView(events.slice(0, 1000)));
    }
  });

  it("never changes an earlier view", async () => {
    const events = await collectRunEvents("It is there.");
    for (let cut = 0; cut <= events.length; cut++) {
      const before = buildView(events.slice(0, cut));
      const copy = structuredClone(before);
      expect(reduceAll(before, events.slice(cut))).toEqual(events.reduce(reduce, emptyView));
      expect(before).toEqual(copy);
    }
  });

  it("ignores unknown events", async () => {
    const events = await collectRunEvents("abc");
    const news = { type: "smell", runId: "r", sessionId: "s", agent: "a", turn: 1 } as unknown as Event;
    const view = buildView(events.slice(0, 3));
    expect(reduce(view, news)).toBe(view);
    const fact = { ...news, seq: view.seq + 1, at: 0, id: "i" } as unknown as Event;
    expect(reduce(view, fact)).toEqual({ ...view, seq: view.seq + 1 });
  });

  it("drops live output after a crash and after a reconnect", async () => {
    const events = await collectRunEvents("Hello there");
    const at = events.findIndex(({ type }) => type === "content_delta") + 2;
    const half = buildView(events.slice(0, at));
    expect(half.live.text).toBe("Hello ");
    const { runId, sessionId, agent, turn } = events[at] as Event;
    const origin = { runId, sessionId, agent, turn };
    const recovered = {
      type: "recovered",
      owner: "b",
      seq: half.seq + 1,
      at: 0,
      id: "i",
      ...origin,
    } as const;
    expect(reduce(half, recovered).live).toEqual(emptyView.live);
    const back = { type: "message_restart", reason: "reconnected", ...origin } as const;
    expect(reduce(half, back).live).toEqual(emptyView.live);
  });
});

describe("a watch of the end of a session", () => {
  it("shows the last facts first and earlier ones on request, up to the same view as a full watch", async () => {
    const agent = defineAgent({ name: "a", model: scriptedModel(() => ({ text: "Fine." })) });
    const store = memory();
    for (let index = 0; index < 4; index++)
      await run(agent, `Question ${index}.`, { store, session: "s", runId: `r${index}` });
    const stored = await store.read("s");
    const asked: string[] = [];
    const client = createClient({
      baseURL: "http://127.0.0.1:1",
      fetch: async (url, { headers }) => {
        const { pathname, searchParams } = new URL(url);
        asked.push(`${pathname} ${new Headers(headers).get("last-event-id") ?? ""}`);
        if (pathname.endsWith("/events"))
          return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
        const end = Number(searchParams.get("before") ?? stored.length + 1) - 1;
        const from = Math.max(0, end - Number(searchParams.get("limit")));
        const facts = stored.slice(from, end);
        const start = stored.find((fact) => fact.runId === facts[0]?.runId);
        return Response.json({
          facts,
          ...(start !== facts[0] && { start }),
          ...(from > 0 && { previous: from + 1 }),
        });
      },
    });
    const watch = client.watch("s", { tail: 7 });
    await expect.poll(() => watch.facts().length).toBe(7);
    const start = stored.find((fact) => fact.runId === stored.at(-7)?.runId) as Fact;
    expect(start).not.toBe(stored.at(-7));
    expect(watch.view()).toEqual(buildView([start, ...stored.slice(-7)]));
    expect(watch.hasEarlier()).toBe(true);
    for (const known = watch.facts(); watch.hasEarlier(); ) {
      await Promise.all([watch.loadEarlier(), watch.loadEarlier()]);
      expect(watch.facts()).not.toBe(known);
    }
    expect(watch.facts()).toEqual(stored);
    expect(watch.view()).toEqual(buildView(stored));
    await watch.loadEarlier();
    expect(asked.filter((path) => path.includes("/facts"))).toHaveLength(Math.ceil(stored.length / 7));
    expect(asked.find((path) => path.includes("/events"))).toBe(`/api/sessions/s/events ${stored.length}`);
    watch.close();
  });

  it("shows all facts if the server has no pages", async () => {
    const server = createFetch({ "GET /api/sessions/s/facts": () => new Response("", { status: 404 }) });
    const watch = server.client.watch("s", { tail: 2 });
    const events = await collectRunEvents("Done.");
    await waitForFrame();
    server.say(events);
    await expect.poll(() => watch.view()).toEqual(buildView(events));
    expect(watch.hasEarlier()).toBe(false);
    watch.close();
  });
});
