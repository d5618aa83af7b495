import { defineAgent, defineTool, type Fact } from "capstan";
import { createClient } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { type Script, scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { ServerOptions } from "../create-server.ts";
import { readUntilSuspended } from "../runs/threads.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
afterEach(() => server.close(0));

/** A server whose provider refuses the key until `fixed` is set, after the agent has booked. */
function serve(options: Partial<ServerOptions> = {}) {
  const store = memory();
  const provider = { fixed: false, bookings: 0, store };
  const book = defineTool({
    ...{ name: "book", description: "Books", input: {}, effects: "state" },
    execute: () => `Booked ${++provider.bookings}.`,
  });
  const script: Script = ({ history }) => {
    const input = history.findLast((entry) => entry.type === "user")?.content;
    if (input === "hang") return { text: "…", hang: true };
    if (history.at(-1)?.type !== "result") return { calls: [{ id: "c1", name: "book" }] };
    return provider.fixed ? { text: "Your table is booked." } : { error: "model_auth" };
  };
  const agent = defineAgent({ name: "desk", model: scriptedModel(script), tools: [book] });
  server = createTestServer({ agents: [agent], store, ...options });
  return provider;
}

async function send(path: string, body: object = {}, headers: Record<string, string> = {}) {
  const response = await server.send("POST", path, body, headers);
  return { status: response.status, ...(await response.json()) };
}

const load = async (runId: string) => (await server.send("GET", `/api/runs/${runId}`)).json();

async function startFailing(): Promise<string> {
  const { runId } = await send("/api/runs", { input: "A table" });
  await waitFor(runId, { result: { status: "failed", canRetry: true, error: { code: "model_auth" } } });
  return runId;
}

const waitFor = (runId: string, wanted: object) =>
  expect.poll(() => load(runId), { timeout: 30_000 }).toMatchObject(wanted);

async function readTypes(runId: string): Promise<readonly string[]> {
  const headers = { accept: "application/json" };
  const response = await server.send("GET", `/api/runs/${runId}/events`, undefined, headers);
  return (await response.json()).facts.map(({ type }: Fact) => type);
}

describe("retrying a failed run", () => {
  it("continues the same run from the model call that failed, once per key", async () => {
    const provider = serve();
    const runId = await startFailing();
    provider.fixed = true;
    const key = { "idempotency-key": "k" };
    expect(await send(`/api/runs/${runId}/retry`, {}, key)).toEqual({ status: 202 });
    expect(await send(`/api/runs/${runId}/retry`, {}, key)).toEqual({ status: 202 });
    await waitFor(runId, { state: "ended", result: { status: "done", text: "Your table is booked." } });
    expect(await send(`/api/runs/${runId}/retry`, {}, key)).toEqual({ status: 202 });
    expect(provider.bookings).toBe(1);
    const types = await readTypes(runId);
    expect(types.filter((type) => type === "retried" || type === "done")).toEqual([
      ...["done", "retried", "done"],
    ]);
  });

  it("is followed to its second end by a client", async () => {
    const provider = serve();
    const client = createClient({
      baseURL: "http://127.0.0.1",
      fetch: (url, init) => server.fetch(new Request(url, init)),
    });
    const runId = await startFailing();
    provider.fixed = true;
    await client.runs.retry(runId);
    const types: string[] = [];
    for await (const event of client.runs.events(runId)) types.push(event.type);
    expect(types.filter((type) => type === "done")).toHaveLength(2);
    await expect(client.runs.retry(runId)).rejects.toMatchObject({ code: "not_retryable" });
  });

  it("shows a UI chat that is read again only the end that counts", async () => {
    const provider = serve();
    const message = { id: "1", role: "user", parts: [{ type: "text", text: "A table" }] };
    const body = { id: "chat", messages: [message], trigger: "submit-message" };
    const response = await server.send("POST", "/api/ui/chat", body);
    const runId = response.headers.get("x-run-id") ?? "";
    expect(await response.text()).toContain('"type":"error"');
    provider.fixed = true;
    await send(`/api/runs/${runId}/retry`);
    await waitFor(runId, { state: "ended", result: { status: "done" } });
    const events = readUntilSuspended(
      { store: provider.store, shutdownSignal: new AbortController().signal },
      { runId },
    );
    const types: string[] = [];
    for await (const event of events) types.push(event.type);
    expect(types.filter((type) => type === "done")).toHaveLength(1);
    expect(types.at(-1)).toBe("done");
  });

  it("counts the usage of the run once against the quotas (A92)", async () => {
    const provider = serve();
    const runId = await startFailing();
    provider.fixed = true;
    await send(`/api/runs/${runId}/retry`);
    await waitFor(runId, { result: { status: "done" } });
    const { usage } = (await load(runId)).result;
    await expect
      .poll(() => provider.store.listRecords("usage"), { timeout: 30_000 })
      .toMatchObject([
        {
          body: {
            windows: { day: { runs: 1, tokens: usage.inputTokens + usage.outputTokens } },
            reservations: {},
          },
        },
      ]);
  });

  it("is refused for a run that did not fail, for one that is not the newest, and for other users' runs", async () => {
    const provider = serve();
    const refused = { status: 409, error: { code: "not_retryable" } };
    const { runId: active, sessionId } = await send("/api/runs", { input: "hang" });
    expect(await send(`/api/runs/${active}/retry`)).toMatchObject(refused);
    await send(`/api/runs/${active}/cancel`);
    await waitFor(active, { state: "ended" });
    expect(await send(`/api/runs/${active}/retry`)).toMatchObject(refused);
    const { runId: failed } = await send("/api/runs", { input: "A table", sessionId });
    await waitFor(failed, { result: { status: "failed" } });
    provider.fixed = true;
    const { runId: newer } = await send("/api/runs", { input: "Another", sessionId });
    await waitFor(newer, { state: "ended" });
    expect(await send(`/api/runs/${failed}/retry`)).toMatchObject(refused);
    const { secret } = await server.keys.create({ user: "eve" });
    const eve = { authorization: `Bearer ${secret}` };
    expect(await send(`/api/runs/${failed}/retry`, {}, eve)).toMatchObject({
      ...{ status: 404, error: { code: "unknown_run" } },
    });
  });

  it("needs a free place in the user's runs; beyond the limit nothing is sent (A92)", async () => {
    const provider = serve({ quotas: { default: { concurrentRuns: 1 } } });
    const runId = await startFailing();
    provider.fixed = true;
    const { runId: other } = await send("/api/runs", { input: "hang" });
    expect(await send(`/api/runs/${runId}/retry`)).toMatchObject({
      ...{ status: 429, error: { code: "quota_exceeded" } },
    });
    expect(await load(runId)).toMatchObject({ state: "ended" });
    await send(`/api/runs/${other}/cancel`);
    await waitFor(other, { state: "ended" });
    await expect.poll(() => send(`/api/runs/${runId}/retry`), { timeout: 30_000 }).toEqual({ status: 202 });
    await waitFor(runId, { result: { status: "done" } });
  });
});
