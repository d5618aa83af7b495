import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { defineAgent, type Model, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerOptions } from "../create-server.ts";
import { listen } from "../listen.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A store that counts its subscriptions. */
function createWatchedStore(): { readonly store: Store; watchers(): number } {
  const store = memory();
  let count = 0;
  const watch: Store["watch"] = (sessionId, hear) => {
    count += 1;
    const unwatch = store.watch(sessionId, hear);
    return () => {
      count -= 1;
      unwatch();
    };
  };
  return { store: { ...store, watch }, watchers: () => count };
}

/** A model that emits a word per call of `say`, until `end`. */
function createDictatedModel(): { readonly model: Model; say(text: string): void; end(): void } {
  let say: (text: string | undefined) => void = () => undefined;
  const words = new ReadableStream<string>({
    start(controller) {
      say = (text) => (text === undefined ? controller.close() : controller.enqueue(text));
    },
  });
  return {
    model: {
      id: "dictated",
      async *stream() {
        for await (const text of words) yield [{ type: "text", text }];
        yield [{ type: "finish", reason: "stop" }];
      },
    },
    say,
    end: () => say(undefined),
  };
}

function serve(model: Model, options: Partial<ServerOptions> = {}): TestServer {
  const server = createTestServer({ agents: [defineAgent({ name: "helper", model })], ...options });
  opened.push({ close: () => server.close(0) });
  return server;
}

async function start({ send }: TestServer, body: object = {}): Promise<{ runId: string; sessionId: string }> {
  return (await send("POST", "/api/runs", { input: "Go", ...body })).json();
}

const twice: Script = [
  { text: "Let me look.", calls: [{ name: "look" }], split: 4 },
  { text: "Seen.", split: 2 },
];
const says: Script = () => ({ text: "Hello there.", split: 5 });

/** Reads until the text contains the words. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, words: string): Promise<string> {
  let text = "";
  while (!text.includes(words)) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString();
  }
  return text;
}

const parseIds = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

async function waitUntil(claim: () => boolean): Promise<void> {
  for (let left = 1000; left > 0 && !claim(); left -= 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(claim()).toBe(true);
}

describe("the events of a run", () => {
  it("continue exactly after Last-Event-ID, at every position (F81)", async () => {
    const server = serve(scriptedModel(says));
    const { runId } = await start(server);
    const path = `/api/runs/${runId}/events`;
    const all = parseIds(await (await server.send("GET", path)).text());
    for (const [index, id] of all.entries()) {
      const rest = await server.send("GET", path, undefined, { "last-event-id": `${id}` });
      expect(parseIds(await rest.text())).toEqual(all.slice(index + 1));
      expect(parseIds(await (await server.send("GET", `${path}?after=${id}`)).text())).toEqual(
        all.slice(index + 1),
      );
    }
  });

  it.each([
    ["of the future", "999"],
    ["that is none", "abc"],
    ["below zero", "-1"],
    ["of half a position", "1.5"],
    ["that is far too long", "9".repeat(100)],
  ])("are refused after an id %s, before the stream begins (F81)", async (_, id) => {
    const server = serve(scriptedModel(says));
    const { runId } = await start(server);
    const answer = await server.send("GET", `/api/runs/${runId}/events`, undefined, { "last-event-id": id });
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.code).toBe("invalid_input");
  });

  it("are the stored facts alone for a client that accepts only JSON", async () => {
    const server = serve(scriptedModel(says));
    const { runId, sessionId } = await start(server);
    await (await server.send("GET", `/api/runs/${runId}/events`)).text();
    const json = { accept: "application/json" };
    const { facts } = await (await server.send("GET", `/api/runs/${runId}/events`, undefined, json)).json();
    expect(facts.at(-1)).toMatchObject({ type: "done", text: "Hello there." });
    const path = `/api/sessions/${sessionId}/events?after=${facts.length - 1}`;
    expect(await (await server.send("GET", path, undefined, json)).json()).toEqual({
      facts: facts.slice(-1),
    });
    const both = { accept: "application/json, text/event-stream" };
    const answer = await server.send("GET", `/api/runs/${runId}/events`, undefined, both);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    await answer.body?.cancel();
  });

  it("come as JSON a thousand at a time (F81)", async () => {
    const store = memory();
    const server = serve(scriptedModel(says), { store });
    const started = await start(server);
    const [runStart] = await store.read(started.sessionId);
    const [sessionId, runId] = ["ses_long", "run_long"];
    const origin = { runId, sessionId, agent: "helper", turn: 1, at: 1 };
    const more = Array.from({ length: 1500 }, (_, index) => ({
      ...{ type: "warning" as const, code: "more", message: "more" },
      ...{ ...origin, id: `${runId}/warning/${index}` },
    }));
    const lease = await store.lease(sessionId, "more", 60_000);
    if (!lease || !runStart) throw new Error("The run has not started.");
    await store.append([{ ...runStart, ...origin, id: `${runId}/run_start` }, ...more], {
      expected: 0,
      lease,
    });
    const read: number[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const answer: Response = await server.send(
        "GET",
        `/api/runs/${runId}/events?after=${after}`,
        undefined,
        {
          accept: "application/json",
        },
      );
      const { facts, next } = await answer.json();
      expect(facts.length).toBeLessThanOrEqual(1000);
      read.push(...facts.map((fact: { seq: number }) => fact.seq));
      after = next;
    }
    expect(read).toEqual(Array.from({ length: 1501 }, (_, index) => index + 1));
  });

  it.each([
    ["all", ["Let ", "me l", "ook.", "Se", "en", "."]],
    ["per-turn", ["Let me look.", "Seen."]],
    ["final", ["Seen."]],
  ])("with stream=%s have as much of the text as that (C-17, S2-34, S2-50)", async (mode, expected) => {
    const held = createDictatedModel();
    const scripted = scriptedModel(twice);
    // Wait for the reader: earlier deltas are not repeated.
    const model: Model = {
      id: "held",
      async *stream(request, options) {
        for await (const _ of held.model.stream(request, options));
        yield* scripted.stream(request, options);
      },
    };
    const server = serve(model);
    const { runId } = await start(server);
    const answer = await server.send("GET", `/api/runs/${runId}/events?stream=${mode}`);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    let text = await readUntil(reader, "event: turn_start");
    held.end();
    text += await readUntil(reader, "event: done");
    const deltas = [...text.matchAll(/^event: content_delta\ndata: (.*)$/gm)].map(([, data = ""]) =>
      JSON.parse(data),
    );
    // `all` may have fewer pieces, but the same text.
    expect(deltas.map(({ delta }) => delta).join("|")).toBe(expected.join("|"));
    expect(text).toContain("event: message\n");
  });

  it("of a session continue across its runs, and start where the client left off (F81)", async () => {
    const server = serve(scriptedModel(says));
    const { sessionId, runId } = await start(server);
    const { body } = await server.send("GET", `/api/sessions/${sessionId}/events`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const first = await readUntil(reader, "event: done");
    const next = await start(server, { sessionId });
    const second = await readUntil(reader, `"runId":"${next.runId}"`);
    expect(first).toContain(runId);
    expect(parseIds(second)[0]).toBe((parseIds(first).at(-1) ?? 0) + 1);
    await reader.cancel();
  });
});

describe("a reader of events", () => {
  it("that disconnects leaves no subscription behind, and the run continues to its end (F79)", async () => {
    const { store, watchers } = createWatchedStore();
    const { model, say, end } = createDictatedModel();
    const server = serve(model, { store });
    const { runId } = await start(server);
    const before = watchers();
    const readers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { body } = await server.send("GET", `/api/runs/${runId}/events`);
        const reader = (body as ReadableStream<Uint8Array>).getReader();
        await readUntil(reader, "event: turn_start");
        return reader;
      }),
    );
    say("one");
    await Promise.all(readers.map((reader) => readUntil(reader, "event: content_delta")));
    expect(watchers()).toBe(before + 20);
    await Promise.all(readers.map((reader) => reader.cancel()));
    await waitUntil(() => watchers() === before);
    say(" two");
    end();
    const text = await (await server.send("GET", `/api/runs/${runId}/events`)).text();
    expect(text).toContain('"text":"one two"');
    await waitUntil(() => watchers() === 1); // the server's own subscription
  });

  it("whose socket is cut leaves no subscription behind (F79)", async () => {
    const { store, watchers } = createWatchedStore();
    const { model, end } = createDictatedModel();
    const server = serve(model, { store });
    const { port, close } = await listen(server, { port: 0 });
    opened.unshift({ close: () => close(0) });
    const { runId } = await start(server);
    const before = watchers();
    const sockets = Array.from({ length: 5 }, () => {
      const asking = httpRequest({ port, path: `/api/runs/${runId}/events`, host: "127.0.0.1" });
      asking
        .on("error", () => undefined)
        .on("response", (answer) => answer.on("error", () => undefined).resume());
      asking.end();
      return asking;
    });
    await waitUntil(() => watchers() === before + 5);
    for (const asking of sockets) asking.destroy();
    await waitUntil(() => watchers() === before);
    end();
  });

  it("takes one of its user's slots, and releases it however it ends (A92)", async () => {
    const { model } = createDictatedModel();
    const server = serve(model, { quotas: { default: { streams: 1 } } });
    const { runId } = await start(server);
    const path = `/api/runs/${runId}/events`;
    const first = await server.send("GET", path);
    expect((await server.send("GET", path)).status).toBe(429);
    await first.body?.cancel();
    const second = await server.send("GET", path);
    expect(second.status).toBe(200);
    await second.body?.cancel();
    expect((await server.send("HEAD", path)).status).toBe(200);
    const third = await server.send("GET", path);
    expect(third.status).toBe(200);
    await third.body?.cancel();
  });

  it("that never reads blocks no other reader, and reconnects with its last id (F80)", async () => {
    const { model, say, end } = createDictatedModel();
    const { store } = createWatchedStore();
    const server = serve(model, { store });
    const { port, close } = await listen(server, { port: 0 });
    opened.unshift({ close: () => close(0) });
    const { runId } = await start(server);
    const idle = connect(port, "127.0.0.1");
    opened.unshift({ close: () => idle.destroy() });
    idle.on("error", () => undefined).pause();
    idle.write(`GET /api/runs/${runId}/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    const { body } = await server.send("GET", `/api/runs/${runId}/events`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await readUntil(reader, "event: turn_start");
    // Far more than kernels and buffers hold for a reader that does not read.
    for (let count = 0; count < 60; count += 1) {
      say("x".repeat(100_000));
      await readUntil(reader, "event: content_delta");
    }
    end();
    expect(await readUntil(reader, "event: done")).toContain("event: done");
    const rest = await server.send("GET", `/api/runs/${runId}/events`, undefined, { "last-event-id": "2" });
    expect(parseIds(await rest.text())[0]).toBe(3);
  });

  it("is notified of a shutdown, and the stream ends (F82)", async () => {
    const { model } = createDictatedModel();
    const server = serve(model);
    const { runId } = await start(server);
    const { body } = await server.send("GET", `/api/runs/${runId}/events`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await readUntil(reader, "event: turn_start");
    const closing = server.close(0);
    const last = await readUntil(reader, "nothing more");
    expect(last).toContain("event: server_draining");
    await closing;
  });
});
