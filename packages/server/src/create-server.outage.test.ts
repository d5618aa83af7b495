import { AgentError, defineAgent } from "capstan";
import { createClient } from "capstan/client";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "./testing/test-server.ts";

let server: TestServer;
let isBusy: boolean;
beforeEach(() => {
  const retryAfterMs = 3_600_000;
  const busy = new AgentError("model_rate_limited", "Too many requests.", { retryAfterMs });
  isBusy = true;
  const model = scriptedModel(() => (isBusy ? { error: busy } : { text: "Hello." }));
  server = createTestServer({ agents: [defineAgent({ name: "helper", model })] });
});
afterEach(() => server.close(0));

const loadRun = async (runId: string) => (await server.send("GET", `/api/runs/${runId}`)).json();

const waitUntilParked = (runId: string) =>
  expect
    .poll(() => loadRun(runId), { timeout: 30_000 })
    .toMatchObject({ result: { status: "waiting", until: expect.any(Number) } });

/** Reads a stream to its end; cancels the run once it waits for its provider. */
async function readCancelled(response: Response, runId: string): Promise<string> {
  await waitUntilParked(runId);
  await server.send("POST", `/api/runs/${runId}/cancel`, { reason: "Enough." });
  return response.text();
}

describe("while a run waits for its model provider", () => {
  it("the simple chat stays open, and a repeated request follows the same run", async () => {
    const { id: sessionId } = await (await server.send("POST", "/api/sessions", {})).json();
    const body = { messages: [{ role: "user", content: "Go." }], sessionId };
    const ask = () => server.send("POST", "/api/chat", body, { "idempotency-key": "k" });
    const response = await ask();
    const runId = response.headers.get("x-run-id") ?? "";
    await waitUntilParked(runId);
    const repeated = await ask();
    const [first, second] = await Promise.all([readCancelled(response, runId), repeated.text()]);
    for (const text of [first, second]) {
      expect(text).not.toContain("Waiting");
      expect(text).toContain('event: error\ndata: {"code":"cancelled"');
    }
  });

  it("the run can be told to try now", async () => {
    const { runId } = await (await server.send("POST", "/api/runs", { input: "Go." })).json();
    await waitUntilParked(runId);
    isBusy = false;
    expect((await server.send("POST", `/api/runs/${runId}/retry`, {})).status).toBe(202);
    await expect
      .poll(() => loadRun(runId), { timeout: 30_000 })
      .toMatchObject({ result: { status: "done", text: "Hello." } });
  });

  it("a UI chat that was left can be read again", async () => {
    const message = { id: "1", role: "user", parts: [{ type: "text", text: "Go." }] };
    const body = { id: "chat", messages: [message], trigger: "submit-message" };
    const response = await server.send("POST", "/api/ui/chat", body);
    const runId = response.headers.get("x-run-id") ?? "";
    await response.body?.cancel();
    await waitUntilParked(runId);
    const again = await server.send("GET", "/api/ui/chat/chat/stream");
    expect(again.status).toBe(200);
    expect(await readCancelled(again, runId)).toContain('"type":"abort"');
  });

  it("a client that reads until the run needs an answer keeps reading", async () => {
    const client = createClient({
      baseURL: "http://127.0.0.1",
      fetch: (url, init) => server.fetch(new Request(url, init)),
    });
    const { runId } = await client.runs.start({ input: "Go." });
    const types: string[] = [];
    const read = async () => {
      for await (const { type } of client.runs.events(runId, { untilRest: true })) types.push(type);
    };
    const reading = read();
    await waitUntilParked(runId);
    await expect.poll(() => types, { timeout: 30_000 }).toContain("waiting");
    await client.runs.cancel(runId);
    await reading;
    expect(types.at(-1)).toBe("done");
  });
});
