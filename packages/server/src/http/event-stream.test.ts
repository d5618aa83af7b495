import type { Delta, Event } from "capstan";
import { subscribe } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { formatEventFrame, maxUnread, streamEvents } from "./event-stream.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const createDelta = (text: string): Delta => ({
  ...{ type: "content_delta", delta: text, runId: "r1", sessionId: "s1", agent: "a", turn: 1 },
});

/** A controllable source of events that records what its reader does. */
function createSource() {
  const ready: Event[] = [];
  let wake: () => void = () => undefined;
  let isReturned = false;
  const events = {
    async next(): Promise<IteratorResult<Event, void>> {
      while (ready.length === 0 && !isReturned)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const value = isReturned ? undefined : ready.shift();
      return value ? { done: false, value } : { done: true, value: undefined };
    },
    async return(): Promise<IteratorResult<Event, void>> {
      isReturned = true;
      wake();
      return { done: true, value: undefined };
    },
  };
  const put = (event: Event) => {
    ready.push(event);
    wake();
  };
  return { events, put, isReturned: () => isReturned };
}

function openStream(events: ReturnType<typeof createSource>["events"], leaving = new AbortController()) {
  let closed = 0;
  const signals = { clientSignal: new AbortController().signal, shutdownSignal: leaving.signal };
  const response = streamEvents({ events, ...signals, onClose: () => (closed += 1) });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
  return { reader, read, leaving, closed: () => closed };
}

describe("a stream of events", () => {
  it("keeps its connection open with a comment when nothing happens", async () => {
    const { events, put } = createSource();
    const { read, reader } = openStream(events);
    const first = read();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await first).toBe(": still here\n\n");
    const second = read();
    put(createDelta("x"));
    expect(await second).toBe(formatEventFrame(createDelta("x")));
    await reader.cancel();
  });

  it.each([
    "before",
    "after",
  ])("ends when its client leaves %s the response, though nothing cancels it", async (when) => {
    const { events, isReturned } = createSource();
    const client = new AbortController();
    if (when === "before") client.abort();
    const onClose = vi.fn();
    const signals = { clientSignal: client.signal, shutdownSignal: new AbortController().signal };
    const reader = streamEvents({ events, ...signals, onClose }).body?.getReader();
    const reading = reader?.read();
    client.abort();
    expect(await reading).toEqual({ done: true, value: undefined });
    expect(isReturned()).toBe(true);
    expect(onClose).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has one timer with all others of its server, and none when they are over", async () => {
    const leaving = new AbortController();
    const streams = Array.from({ length: 50 }, () => openStream(createSource().events, leaving));
    expect(vi.getTimerCount()).toBe(1);
    for (const { reader } of streams) await reader.cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is dropped when it is not read for a minute, and releases its place (F80)", async () => {
    const { events, put, isReturned } = createSource();
    const { read, reader, closed } = openStream(events);
    put(createDelta("x"));
    await read();
    put(createDelta("y"));
    await vi.advanceTimersByTimeAsync(45_000);
    expect(closed()).toBe(0);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(closed()).toBe(1);
    expect(isReturned()).toBe(true);
    await expect(reader.read()).rejects.toThrow("The stream was not read");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that is read is not dropped, however long nothing happens", async () => {
    const { events } = createSource();
    const { read, closed, reader } = openStream(events);
    for (let count = 0; count < 20; count += 1) {
      const next = read();
      await vi.advanceTimersByTimeAsync(15_000);
      expect(await next).toBe(": still here\n\n");
    }
    expect(closed()).toBe(0);
    await reader.cancel();
  });

  it("whose answer was never read at all is dropped too (F79)", async () => {
    const { events } = createSource();
    const { closed } = openStream(events);
    await vi.advanceTimersByTimeAsync(75_000);
    expect(closed()).toBe(1);
  });

  it("writes events that are ready together in one chunk", async () => {
    const store = memory();
    const lease = await store.lease("s1", "writer", 60_000);
    const fact = { ...createDelta(""), type: "warning" as const, code: "a", message: "a", at: 1 };
    if (lease)
      await store.append(
        ["1", "2", "3"].map((id) => ({ ...fact, id })),
        { expected: 0, lease },
      );
    const events = subscribe(store, { sessionId: "s1" }, { maxBuffered: maxUnread });
    const { read, reader } = openStream(events as never);
    expect((await read()).match(/^id: /gm)).toHaveLength(3);
    const next = read();
    await new Promise((resolve) => setTimeout(resolve, 5));
    store.publish("s1", [
      { after: 3, delta: createDelta("x") },
      { after: 3, delta: createDelta("y") },
    ]);
    expect((await next).match(/^event: content_delta/gm)).toHaveLength(2);
    await reader.cancel();
  });

  it("ends for a client that is too far behind, which may reconnect after its last fact (F80)", async () => {
    const store = memory();
    const events = subscribe(store, { sessionId: "s1" }, { maxBuffered: maxUnread });
    const { read, reader } = openStream(events as never);
    const first = read();
    await new Promise((resolve) => setTimeout(resolve, 5));
    store.publish("s1", [{ after: 0, delta: createDelta("one") }]);
    await first;
    for (let count = 0; count < 100; count += 1)
      store.publish("s1", [{ after: 0, delta: createDelta("x".repeat(20_000)) }]);
    const problem = await read();
    expect(problem).toContain("event: stream_error");
    expect(JSON.parse(problem.split("data: ")[1] ?? "")).toEqual({ code: "aborted", retryable: true });
    expect((await reader.read()).done).toBe(true);
  });

  it("serialises an event once for all its readers", async () => {
    const said = createDelta("x");
    let asked = 0;
    const counted = Object.assign(Object.create({ toJSON: () => ({ asked: ++asked }) }), said);
    expect(formatEventFrame(counted)).toBe(formatEventFrame(counted));
    expect(asked).toBe(1);
  });

  it("shares the bytes of an event with the other readers", async () => {
    const chunks = await Promise.all(
      [createSource(), createSource()].map(async ({ events, put }) => {
        const { reader } = openStream(events);
        put(createDelta("Hello"));
        const { value } = await reader.read();
        await reader.cancel();
        return value;
      }),
    );
    expect(Buffer.from(chunks[0] ?? []).toString()).toContain("Hello");
    expect(chunks[1]).toBe(chunks[0]);
  });

  it("ends with a code and no message when the store fails", async () => {
    const events = { next: () => Promise.reject(new Error("disk /dev/sda1 on fire")) };
    const { read, closed } = openStream(events as never);
    const text = await read();
    expect(text).toBe('event: stream_error\ndata: {"code":"internal","retryable":true}\n\n');
    expect(closed()).toBe(1);
  });

  it("reports a shutdown immediately (F82)", async () => {
    const leaving = new AbortController();
    leaving.abort();
    const { events } = createSource();
    const { read, closed, reader } = openStream(events, leaving);
    expect(await read()).toContain("event: server_draining");
    expect((await reader.read()).done).toBe(true);
    expect(closed()).toBe(1);
  });
});
