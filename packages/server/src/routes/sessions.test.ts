import { defineAgent, defineTool, type Store } from "capstan";
import { session } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: { type: "object" },
  needsApproval: true,
  execute: () => "Paid.",
});

function serve(script: Script = () => ({ text: "It rains." }), store: Store = memory()): TestServer {
  const agent = defineAgent({ name: "helper", model: scriptedModel(script), tools: [pay] });
  const server = createTestServer({ agents: [agent], store });
  opened.push({ close: () => server.close(0) });
  return server;
}

/** Creates a session with one question and answer. */
async function createTalk(server: TestServer, input = "Weather in Oslo?"): Promise<string> {
  const { runId, sessionId } = await (await server.send("POST", "/api/runs", { input })).json();
  await (await server.send("GET", `/api/runs/${runId}/events`)).text();
  return sessionId;
}

const readJson = async (answer: Response | Promise<Response>) => (await answer).json();
const list = async ({ send }: TestServer, query = "") =>
  (await readJson(send("GET", `/api/sessions${query}`))).sessions;

describe("sessions over HTTP", () => {
  it("are listed newest first, up to a limit", async () => {
    const server = serve();
    const first = await createTalk(server, "One");
    await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await createTalk(server, "Two");
    expect(await list(server)).toMatchObject([
      { id: second, title: "Two" },
      { id: first, title: "One" },
    ]);
    expect(await list(server, "?most=1")).toMatchObject([{ id: second }]);
    const { next } = await (await server.send("GET", "/api/sessions?most=1")).json();
    const page = await server.send("GET", `/api/sessions?most=1&cursor=${encodeURIComponent(next)}`);
    expect((await page.json()).sessions).toMatchObject([{ id: first }]);
    for (const cursor of ["x", "[1]", '["1","a"]'])
      expect((await server.send("GET", `/api/sessions?cursor=${encodeURIComponent(cursor)}`)).status).toBe(
        400,
      );
  });

  it("are found by words in them", async () => {
    const server = serve();
    await createTalk(server, "Something else");
    const oslo = await createTalk(server, "Weather in Oslo?");
    expect(await list(server, "?search=oslo")).toMatchObject([
      { id: oslo, title: "Weather in Oslo?", places: [{ seq: 1, excerpt: expect.stringContaining("Oslo") }] },
    ]);
  });

  it("are made empty, once for one key, and then used (F84)", async () => {
    const server = serve();
    const key = { "idempotency-key": "k" };
    const made = await server.send("POST", "/api/sessions", { title: "Plans" }, key);
    expect(made.status).toBe(201);
    const summary = await made.json();
    expect(summary).toMatchObject({ title: "Plans", facts: 0, runs: [], cost: 0 });
    const again = await server.send("POST", "/api/sessions", { title: "Plans" }, key);
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual(summary);
    expect((await server.send("POST", "/api/sessions", { title: "Other" }, key)).status).toBe(409);
    expect(await list(server)).toMatchObject([{ id: summary.id, title: "Plans" }]);
    const { sessionId } = await readJson(
      server.send("POST", "/api/runs", { input: "Hi", sessionId: summary.id }),
    );
    expect(sessionId).toBe(summary.id);
  });

  it("are shown with their runs and the usage of each", async () => {
    const server = serve();
    const id = await createTalk(server);
    const summary = await readJson(server.send("GET", `/api/sessions/${id}`));
    expect(summary).toMatchObject({
      id,
      title: "Weather in Oslo?",
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    expect(summary.runs).toMatchObject([{ status: "done", words: "Weather in Oslo?", turns: 1 }]);
  });

  it("are renamed, and get their own title back with an empty one", async () => {
    const server = serve();
    const id = await createTalk(server);
    const rename = (title: string) => readJson(server.send("PATCH", `/api/sessions/${id}`, { title }));
    expect((await rename("Holidays")).title).toBe("Holidays");
    expect((await rename("")).title).toBe("Weather in Oslo?");
  });
});

describe("a session that is compacted", () => {
  it("has a summary in place of its older messages, and the run says how many tokens that saved", async () => {
    const store = memory();
    const server = serve(() => ({ text: `It rains. ${"word ".repeat(200)}`, usage: null }), store);
    const sessionId = await createTalk(server);
    const follow = async (answer: Response): Promise<{ result: { text: string } }> => {
      const { runId } = await answer.json();
      await (await server.send("GET", `/api/runs/${runId}/events`)).text();
      return readJson(server.send("GET", `/api/runs/${runId}`));
    };
    for (const input of ["Two", "Three", "Four"])
      await follow(await server.send("POST", "/api/runs", { input, sessionId }));
    const path = `/api/sessions/${sessionId}/compact`;
    const started = await server.send("POST", path, { agent: "helper" });
    expect(started.status).toBe(201);
    const { result } = await follow(started);
    expect(result.text).toMatch(/^Compacted the conversation: about \d+ tokens became \d+\.$/);
    const again = await follow(await server.send("POST", path));
    expect(again.result.text).toMatch(/^Nothing to compact/);
    expect((await session(store, sessionId).history())[0]).toMatchObject({ type: "summary" });
    expect((await server.send("POST", "/api/sessions/none/compact")).status).toBe(404);
  });
});

describe("a session that is removed", () => {
  it("is removed with everything in it", async () => {
    const server = serve();
    const id = await createTalk(server);
    expect((await server.send("DELETE", `/api/sessions/${id}`)).status).toBe(204);
    expect((await server.send("GET", `/api/sessions/${id}`)).status).toBe(404);
    expect((await server.send("DELETE", `/api/sessions/${id}`)).status).toBe(404);
    expect(await list(server)).toEqual([]);
  });

  it("has its active run cancelled first", async () => {
    const store = memory();
    let aborted = 0;
    const called = Promise.withResolvers<void>();
    const agent = defineAgent({
      name: "helper",
      model: {
        id: "slow",
        async *stream(_, { signal }) {
          yield [{ type: "text", text: "Well" }];
          called.resolve();
          await new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              aborted += 1;
              reject(signal.reason);
            });
          });
        },
      },
    });
    const server = createTestServer({ agents: [agent], store });
    opened.push({ close: () => server.close(0) });
    const { sessionId } = await readJson(server.send("POST", "/api/runs", { input: "Go" }));
    await called.promise;
    expect((await server.send("DELETE", `/api/sessions/${sessionId}`)).status).toBe(204);
    expect(aborted).toBe(1);
    expect(await store.list()).toEqual([]);
  });

  it("may have a run that waits", async () => {
    const server = serve(() => ({ calls: [{ name: "pay", input: {} }] }));
    const { runId, sessionId } = await readJson(server.send("POST", "/api/runs", { input: "Go" }));
    while ((await readJson(server.send("GET", `/api/runs/${runId}`))).state !== "waiting")
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await server.send("DELETE", `/api/sessions/${sessionId}`)).status).toBe(204);
    expect((await server.send("GET", `/api/runs/${runId}`)).status).toBe(404);
  });
});

it("a list with details has the agent and the state of the newest run, and the origin of a fork", async () => {
  const server = serve();
  const id = await createTalk(server);
  const { facts } = await readJson(server.send("GET", `/api/sessions/${id}`));
  const fork = await readJson(server.send("POST", `/api/sessions/${id}/fork`, { at: facts }));
  const listed = await list(server, "?details=true");
  const [first, second] = [fork.id, id].map((one) =>
    listed.find((session: { id: string }) => session.id === one),
  );
  expect(first).toMatchObject({ agent: "helper", origin: id });
  expect(second).toMatchObject({ agent: "helper", state: "ended" });
  expect(second).not.toHaveProperty("origin");
  expect((await list(server))[1]).not.toHaveProperty("agent");
});

it("a list with details says which sessions have failed, and costs two reads, however many sessions there are", async () => {
  const inner = memory();
  let reads = 0;
  const store = new Proxy(inner, {
    get(_, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        reads += 1;
        return value.apply(inner, given);
      };
    },
  });
  const server = serve(({ history }) => {
    if (JSON.stringify(history).includes("fail")) throw new Error("no model");
    return { text: "It rains." };
  }, store);
  const countReads = async (query: string) => {
    const before = reads;
    await list(server, query);
    return reads - before;
  };
  const id = await createTalk(server, "Will it fail?");
  expect(await list(server, "?details=true")).toMatchObject([{ id, state: "ended", status: "failed" }]);
  for (let talk = 0; talk < 4; talk++) await createTalk(server);
  expect((await list(server, "?details=true")).map(({ status }: { status: string }) => status)).toEqual([
    ...["done", "done", "done", "done", "failed"],
  ]);
  expect((await countReads("?details=true")) - (await countReads(""))).toBe(2);
});

describe("a fork", () => {
  it("has the facts up to a place, and is made once for one key (F84)", async () => {
    const server = serve();
    const id = await createTalk(server);
    const { facts } = await readJson(server.send("GET", `/api/sessions/${id}`));
    const fork = (at: number, title?: string) =>
      server.send(
        "POST",
        `/api/sessions/${id}/fork`,
        { at, ...(title && { title }) },
        { "idempotency-key": "k" },
      );
    const made = await fork(facts, "Another way");
    expect(made.status).toBe(201);
    const summary = await made.json();
    expect(summary).toMatchObject({ title: "Another way", facts });
    expect(summary.id).not.toBe(id);
    const again = await fork(facts, "Another way");
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual(summary);
    expect((await fork(2, "Another way")).status).toBe(409);
    expect((await fork(facts, "Third")).status).toBe(409);
    expect(await list(server)).toHaveLength(2);
  });

  it("is refused at a place that is not there", async () => {
    const server = serve();
    const id = await createTalk(server);
    const answer = await server.send("POST", `/api/sessions/${id}/fork`, { at: 99 });
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.message).toContain("no fact at 99");
  });
});

describe("an exported session", () => {
  it.each([
    ["markdown", "text/markdown; charset=utf-8", "md"],
    ["json", "application/json", "json"],
    ["html", "text/html; charset=utf-8", "html"],
  ])("as %s is a file to be saved, with a name that breaks no header", async (format, type, ending) => {
    const server = serve();
    const id = await createTalk(server);
    await server.send("PATCH", `/api/sessions/${id}`, { title: 'Öl "x";\r\nset-cookie: a=b/../../☃' });
    const answer = await server.send("GET", `/api/sessions/${id}/export?format=${format}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("content-disposition")).toBe(
      `attachment; filename="O-l-x-set-cookie-a-b.${ending}"`,
    );
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(answer.headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox/);
    expect(await answer.text()).toContain("It rains.");
  });

  it("is imported as a new session, once for one key (F84)", async () => {
    const server = serve();
    const id = await createTalk(server);
    const file = await (await server.send("GET", `/api/sessions/${id}/export?format=json`)).text();
    const key = { "idempotency-key": "k" };
    const made = await server.send("POST", "/api/sessions", { file }, key);
    expect(made.status).toBe(201);
    const summary = await made.json();
    expect(summary).toMatchObject({ title: "Weather in Oslo?", runs: [{ status: "done" }] });
    expect(summary.id).not.toBe(id);
    expect((await server.send("POST", "/api/sessions", { file }, key)).status).toBe(200);
    expect((await server.send("POST", "/api/sessions", {}, key)).status).toBe(409);
    expect(await list(server)).toHaveLength(2);
  });

  it("that is invalid is refused, and leaves nothing behind", async () => {
    const server = serve();
    const answer = await server.send("POST", "/api/sessions", { file: '{"format":"something"}' });
    expect(answer.status).toBe(400);
    expect((await answer.json()).error.code).toBe("invalid_input");
    expect(await list(server)).toEqual([]);
  });
});

describe("a large result", () => {
  it("is a download, whatever its media type", async () => {
    const store = memory();
    const server = serve(undefined, store);
    const id = await createTalk(server);
    const html = await store.putBlob(id, { mediaType: "text/html", data: "<script>alert(1)</script>" });
    const odd = await store.putBlob(id, { mediaType: "a\r\nset-cookie: b", data: new Uint8Array([1, 2]) });
    const answer = await server.send("GET", `/api/sessions/${id}/blobs/${html}`);
    expect(await answer.text()).toBe("<script>alert(1)</script>");
    expect(answer.headers.get("content-disposition")).toContain("attachment");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    const bytes = await server.send("GET", `/api/sessions/${id}/blobs/${odd}`);
    expect(bytes.headers.get("content-type")).toBe("application/octet-stream");
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([1, 2]);
    expect((await server.send("GET", `/api/sessions/${id}/blobs/blob_99`)).status).toBe(404);
  });
});

it("an imported session belongs to its importer, with new ids for everything in it (A84)", async () => {
  const store = memory();
  const server = serve(undefined, store);
  const id = await createTalk(server);
  const { runs } = await session(store, id).info();
  const { secret } = await server.keys.create({ user: "ada" });
  const file = (await session(store, id).export("json")).replaceAll(id, "bob~ses_stolen");
  const answer = await server.send("POST", "/api/sessions", { file }, { authorization: `Bearer ${secret}` });
  const summary = await answer.json();
  expect(summary.id).toMatch(/^ada~ses_/);
  expect(summary.runs[0].runId).not.toBe(runs[0]?.runId);
  expect(await store.list({ scope: "bob" })).toEqual([]);
  expect(await store.findSession(runs[0]?.runId ?? "")).toBe(id);
});
