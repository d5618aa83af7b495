import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, type Model } from "capstan";
import { type Client, createClient } from "capstan/client";
import { createEvalsClient, type EvalsClient } from "capstan/client/evals";
import { loadExperiment } from "capstan/evals";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Quotas } from "../access/quotas.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let paid: string[] = [];
let hold: Promise<void> | undefined;
beforeEach(() => {
  [paid, hold] = [[], undefined];
});
const pay = defineTool({
  name: "pay",
  description: "Pays",
  input: { to: { type: "string", required: true } },
  effects: "send",
  execute({ to }) {
    paid.push(to);
    return `paid ${to}`;
  },
});
const script = scriptedModel(({ history }) => {
  const last = history.at(-1);
  if (last?.type === "result") return { text: `I ${last.content}.` };
  const text = last?.type === "user" ? String(last.content) : "";
  if (text.startsWith("pay ")) return { calls: [{ name: "pay", input: { to: text.slice(4) } }] };
  return { text: `You said ${text}.` };
});
const model: Model = {
  id: "scripted",
  async *stream(request, options) {
    await hold;
    yield* script.stream(request, options);
  },
};
const agent = defineAgent({ name: "bank", model, tools: [pay] });

let server: TestServer;
let client: Client & EvalsClient;
afterEach(() => server.close(0));
function serve(store = memory(), apiKey?: string, quotas: Quotas = {}): void {
  server = createTestServer({
    agents: [agent],
    store,
    quotas: { default: quotas },
    ...(apiKey && { apiKey }),
  });
  const options = {
    baseURL: "http://127.0.0.1",
    fetch: (input: unknown, init?: RequestInit) => server.fetch(new Request(input as string, init)),
    ...(apiKey && { key: apiKey }),
  };
  client = { ...createClient(options), ...createEvalsClient(options) };
}

/** Waits until the experiment is no longer running. */
async function finish(id: string) {
  await expect.poll(async () => (await client.experiments.get(id)).status).not.toBe("running");
  return client.experiments.get(id);
}

describe("datasets over HTTP", () => {
  it("are created, filled from a file and by hand, changed and removed", async () => {
    serve();
    await client.datasets.save("greetings", "How to greet");
    const text = 'id,input,expected\nhi,hello,You said hello.\nbye,bye,"You said bye."\n';
    expect(await client.datasets.importCases("greetings", { format: "csv", text })).toBe(2);
    await client.datasets.saveCase("greetings", { id: "a/b c", input: "x", calls: ["pay"] });
    await client.datasets.removeCase("greetings", "bye");
    expect(await client.datasets.get("greetings")).toMatchObject({
      dataset: { name: "greetings", description: "How to greet" },
      cases: [
        { id: "a/b c", calls: ["pay"] },
        { id: "hi", expected: "You said hello." },
      ],
    });
    expect(await client.datasets.list()).toMatchObject([{ name: "greetings" }]);
    await client.datasets.remove("greetings");
    await expect(client.datasets.get("greetings")).rejects.toMatchObject({ code: "not_found" });
  });

  it("answer bad input with named errors", async () => {
    serve();
    await client.datasets.save("d");
    const importing = client.datasets.importCases("d", { format: "csv", text: "id,inptu\n1,2" });
    await expect(importing).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("inptu"),
    });
    await expect(client.datasets.saveCase("d", { id: "x", input: 7 as never })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(client.datasets.save("../x")).rejects.toMatchObject({ code: "invalid_input" });
    await expect(client.datasets.saveRun("d", "run_unknown")).rejects.toMatchObject({ code: "unknown_run" });
  });

  it("take a run with a correction, and its earlier messages", async () => {
    serve();
    await client.datasets.save("d");
    const first = await client.runs.start({ agent: "bank", input: "hello" });
    await expect.poll(async () => (await client.runs.get(first.runId)).state).toBe("ended");
    const second = await client.runs.start({ agent: "bank", input: "pay ada", sessionId: first.sessionId });
    await expect.poll(async () => (await client.runs.get(second.runId)).state).toBe("ended");
    expect(await client.datasets.saveRun("d", first.runId, { id: "first" })).toMatchObject({
      input: "hello",
      expected: "You said hello.",
      calls: [],
    });
    const saved = await client.datasets.saveRun("d", second.runId, {
      expected: "Ada was paid.",
      notes: "say who",
    });
    expect(saved).toMatchObject({
      id: "pay ada",
      expected: "Ada was paid.",
      source: { runId: second.runId, agent: "bank" },
    });
    expect(saved.input).toHaveLength(3);
    expect((await client.datasets.get("d")).cases).toHaveLength(2);
  });

  it("name a run by its question: another run with the same one gets a number, the same run replaces its case", async () => {
    serve();
    await client.datasets.save("d");
    const ask = async () => {
      const { runId } = await client.runs.start({ agent: "bank", input: "hello" });
      await expect.poll(async () => (await client.runs.get(runId)).state).toBe("ended");
      return runId;
    };
    const [first, second] = [await ask(), await ask()];
    expect(await client.datasets.saveRun("d", first)).toMatchObject({ id: "hello" });
    expect(await client.datasets.saveRun("d", second)).toMatchObject({ id: "hello (2)" });
    await client.datasets.saveRun("d", second, { notes: "again" });
    await client.datasets.saveRun("d", first, { notes: "again" });
    expect((await client.datasets.get("d")).cases).toMatchObject([
      { id: "hello", notes: "again", source: { runId: first } },
      { id: "hello (2)", notes: "again", source: { runId: second } },
    ]);
  });
});

describe("experiments over HTTP", () => {
  async function createDataset() {
    await client.datasets.save("talk");
    for (const id of ["a", "b", "c"])
      await client.datasets.saveCase("talk", { id, input: id, expected: `You said ${id}.` });
    await client.datasets.saveCase("talk", {
      id: "pay",
      input: "pay ada",
      expected: "I Done..",
      calls: ["pay"],
    });
  }

  it("run in the background, with simulated tools, as runs of the caller, and are compared", async () => {
    serve();
    await createDataset();
    const request = {
      dataset: "talk",
      agent: "bank",
      scorers: ["exact" as const, "callSequence" as const],
      tools: { pay: "simulated" as const },
    };
    const started = await client.experiments.start({ ...request, attempts: 2 });
    expect(started).toMatchObject({ name: "talk", agent: "bank", status: "running", caseCount: 4 });
    const first = await finish(started.id);
    expect(first).toMatchObject({ status: "done", summary: { passed: 8, passRate: 1 } });
    expect(paid).toEqual([]);
    const [result] = first.results;
    expect(await client.runs.get(result?.runId ?? "")).toMatchObject({ state: "ended" });
    const second = await finish(
      (await client.experiments.start({ ...request, tools: { pay: { simulated: "refused" } } })).id,
    );
    const comparison = await client.experiments.compare(second.id, first.id);
    expect(comparison.scorers[0]).toMatchObject({
      scorer: "exact",
      before: 1,
      after: 0.75,
      verdict: "cannot tell",
    });
    expect(comparison.cases.find(({ caseId }) => caseId === "pay")?.scores[0]).toMatchObject({
      difference: -1,
    });
    expect((await client.experiments.list("talk")).map(({ id }) => id).sort()).toEqual(
      [first.id, second.id].sort(),
    );
    await client.experiments.review(first.id, { caseId: "a", attempt: 1, passed: false, note: "rude" });
    expect((await client.experiments.get(first.id)).summary.scorers[0]?.agreement).toMatchObject({
      reviewed: 1,
      agreed: 0,
    });
    await client.experiments.remove(second.id);
    await expect(client.experiments.get(second.id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("survive a restart: one of the new processes continues them by itself, without repeating results", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-experiments-"));
    const store = sqlite(join(folder, "a.db"));
    serve(store);
    await createDataset();
    const { id } = await client.experiments.start({
      dataset: "talk",
      agent: "bank",
      scorers: ["exact"],
      concurrency: 1,
      tools: { "*": "simulated" },
    });
    await expect.poll(async () => (await client.experiments.get(id)).results.length).toBeGreaterThan(0);
    const blocked = Promise.withResolvers<void>();
    hold = blocked.promise;
    const closing = server.close();
    blocked.resolve();
    await closing;
    hold = undefined;
    const before = await loadExperiment(store, id, Date.now());
    // The last run may have ended before the server was closed.
    if (before.status !== "done") expect(before.status).toBe("interrupted");
    const runsBefore = (await store.queryRuns()).runs.length;
    const second = createTestServer({ agents: [agent], store });
    serve(store);
    await expect.poll(async () => (await client.experiments.get(id)).status).toBe("done");
    const after = await client.experiments.get(id);
    expect(after).toMatchObject({ status: "done", summary: { passed: 4 } });
    for (const result of before.results) expect(after.results).toContainEqual(result);
    // One of the two processes has continued it.
    expect((await store.queryRuns()).runs.length - runsBefore).toBe(4 - before.results.length);
    await second.close(0);
    await expect(client.experiments.resume(id)).rejects.toMatchObject({ code: "invalid_input" });
    await server.close(0);
    await store.close();
    rmSync(folder, { recursive: true });
    serve();
  });

  const request = { dataset: "talk", agent: "bank", tools: { pay: "simulated" as const } };

  it("stop at a quota of the user with the quota as the reason, and are continued after it is raised", async () => {
    serve(memory(), undefined, { runs: { day: 2 } });
    await createDataset();
    const { id } = await client.experiments.start({ ...request, scorers: ["exact"], attempts: 2 });
    const stopped = await finish(id);
    expect(stopped).toMatchObject({
      status: "stopped",
      error: {
        code: "quota_exceeded",
        message: expect.stringMatching(
          /^Your quota of 2 runs per day is used up\. It resets at .+Z\. Continue the experiment afterwards/,
        ),
      },
      summary: { results: 2, passed: 2 },
    });
    expect(await client.experiments.list()).toMatchObject([{ status: "stopped", error: stopped.error }]);
    await server.send("PUT", "/api/admin/quotas", { quotas: { runs: { day: 8 } } });
    await client.experiments.resume(id);
    const done = await finish(id);
    expect(done).toMatchObject({ status: "done", summary: { results: 8, passed: 8 } });
    expect(done).not.toHaveProperty("error");
    for (const result of stopped.results) expect(done.results).toContainEqual(result);
  });

  it("do not count an attempt that ends at the rest of a quota of tokens, and stop", async () => {
    // A run may use a tenth of what is left, 14 tokens, and the first turn uses 15.
    serve(memory(), undefined, { tokens: { day: 140 } });
    await createDataset();
    const { id } = await client.experiments.start({ ...request, scorers: ["exact"], concurrency: 1 });
    const stopped = await finish(id);
    expect(stopped).toMatchObject({
      status: "stopped",
      error: {
        code: "quota_exceeded",
        message: expect.stringContaining("left for it in your quota of tokens"),
      },
    });
    expect(stopped.results.map(({ caseId, status }) => `${caseId} ${status}`)).toEqual([
      "a done",
      "b done",
      "c done",
    ]);
  });

  it("wait while the active runs of the user hold a quota", async () => {
    serve(memory(), undefined, { concurrentRuns: 1 });
    await createDataset();
    const { id } = await client.experiments.start({ ...request, scorers: ["exact"] });
    await expect
      .poll(async () => (await client.experiments.get(id)).status, { timeout: 60_000 })
      .toBe("done");
    expect(await client.experiments.get(id)).toMatchObject({ summary: { results: 4, passed: 4 } });
  });

  it("are cancelled with the results so far", async () => {
    serve();
    await createDataset();
    const blocked = Promise.withResolvers<void>();
    hold = blocked.promise;
    const { id } = await client.experiments.start({ dataset: "talk", agent: "bank", scorers: ["exact"] });
    await client.experiments.cancel(id);
    blocked.resolve();
    expect(await client.experiments.get(id)).toMatchObject({ status: "cancelled", results: [] });
    await expect(client.experiments.cancel(id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("refuse what cannot run, before anything is stored", async () => {
    serve();
    await createDataset();
    const start = (changes: object) =>
      client.experiments.start({ dataset: "talk", agent: "bank", scorers: ["exact"], ...changes });
    await expect(start({ dataset: "none" })).rejects.toMatchObject({ code: "not_found" });
    await expect(start({ agent: "bnk" })).rejects.toMatchObject({ code: "unknown_agent" });
    await expect(start({ scorers: ["exat"] })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(start({ scorers: [] })).rejects.toMatchObject({ code: "invalid_input" });
    await expect(start({ attempts: 1000 })).rejects.toMatchObject({ code: "invalid_input" });
    expect(await client.experiments.list()).toEqual([]);
  });

  it("and datasets are for admins only", async () => {
    serve(memory(), "operator-key-123456");
    const { secret } = await server.keys.create({ user: "eve" });
    for (const path of [
      "/api/datasets",
      "/api/datasets/talk",
      "/api/experiments",
      "/api/experiments/exp_1",
    ]) {
      const response = await server.send("GET", path, undefined, { authorization: `Bearer ${secret}` });
      expect(response.status).toBe(403);
    }
    expect(await client.datasets.list()).toEqual([]);
  });
});
