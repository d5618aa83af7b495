import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "capstan/stores/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type DrainOrder,
  type DrainWorker,
  type DrainWorkerOptions,
  startDrainWorker,
} from "./testing/start-drain-worker.ts";

const patiently = { timeout: 30_000, interval: 100 };

let folder: string;
const apart: DrainWorker[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-drain-"));
});
afterEach(async () => {
  for (const { child, ended } of apart.splice(0)) {
    child.kill("SIGKILL");
    await ended;
  }
  rmSync(folder, { recursive: true });
});

const getStoreFile = () => join(folder, "store.db");

async function serve(
  order: Partial<DrainOrder> = {},
  options: DrainWorkerOptions = {},
): Promise<DrainWorker> {
  const one = await startDrainWorker(
    { file: getStoreFile(), patienceMs: 25_000, stepMs: 100, ...order },
    options,
  );
  apart.push(one);
  return one;
}

function start({ url }: DrainWorker, agent = "steps"): Promise<Response> {
  return fetch(`${url}/api/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input: "Go", agent }),
  });
}

async function readRunId(answer: Response): Promise<string> {
  expect(answer.status).toBe(201);
  return (await answer.json()).runId;
}

/** Waits until the run performs a step. */
async function waitForStep({ url }: DrainWorker, runId: string): Promise<void> {
  const { body } = await fetch(`${url}/api/runs/${runId}/events`);
  let heard = "";
  for await (const piece of body ?? []) {
    heard += Buffer.from(piece).toString();
    if (heard.includes("event: tool_call_start")) return;
  }
}

const isDone = async ({ url }: DrainWorker, runId: string) => {
  const run = await (await fetch(`${url}/api/runs/${runId}`)).json();
  return run.state === "ended" && run.result.status === "done" && run.result.text === "Done.";
};

it("a server that shuts down under load loses no run and no reader, and exits with 0 (F82)", async () => {
  const isAsked = join(folder, "asked");
  const first = await serve({ waitFor: isAsked });
  const runs = await Promise.all(Array.from({ length: 20 }, async () => readRunId(await start(first))));
  const streams = await Promise.all(
    runs.slice(0, 5).map((id) => fetch(`${first.url}/api/runs/${id}/events`)),
  );
  const texts = streams.map((stream) => stream.text());
  first.child.kill("SIGTERM");
  await expect.poll(async () => (await fetch(`${first.url}/api/health`)).status, patiently).toBe(503);
  const refused = await start(first);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({ error: { code: "draining", retryable: true } });
  // Repeated, because the connection on which a body was refused may be closed.
  await expect
    .poll(async () => (await fetch(`${first.url}/api/runs/${runs[0]}`)).status, patiently)
    .toBe(200);
  writeFileSync(isAsked, "");
  for (const text of await Promise.all(texts)) {
    expect(text).toContain("event: server_draining");
    expect(text).not.toContain("event: done");
  }
  expect(await first.ended).toBe(0);

  const second = await serve();
  for (const runId of runs) await expect.poll(() => isDone(second, runId), patiently).toBe(true);
  second.child.kill("SIGTERM");
  expect(await second.ended).toBe(0);
});

it("a step that takes too long is left for another process, and the run is not lost (F82)", async () => {
  const one = await serve({ stepMs: 60_000, patienceMs: 300 });
  const runId = await readRunId(await start(one));
  await waitForStep(one, runId);
  one.child.kill("SIGINT");
  expect(await one.ended).toBe(0);
  const store = sqlite(getStoreFile());
  const sessionId = (await store.findSession(runId)) ?? "";
  expect(await store.listRuns(sessionId)).toMatchObject([{ runId, state: "active" }]);
  await store.close();
});

it("a second signal ends it immediately (F82)", async () => {
  const one = await serve({ stepMs: 60_000 });
  await waitForStep(one, await readRunId(await start(one)));
  one.child.kill("SIGTERM");
  await expect.poll(async () => (await fetch(`${one.url}/api/health`)).status, patiently).toBe(503);
  one.child.kill("SIGTERM");
  expect(await one.ended).toBe(143);
});

it("a run that takes nearly all memory ends neither the process nor the others; new ones wait (F83)", async () => {
  const one = await serve({ stepMs: 100 }, { flags: ["--max-old-space-size=320", "--expose-gc"] });
  const other = await readRunId(await start(one));
  const greedy = await readRunId(await start(one, "greedy"));
  await expect.poll(async () => (await start(one)).status, patiently).toBe(503);
  const refused = await (await start(one)).json();
  expect(refused.error).toMatchObject({ code: "overloaded", retryable: true });
  expect((await fetch(`${one.url}/api/health`)).status).toBe(200);
  await expect.poll(() => isDone(one, other), patiently).toBe(true);
  expect((await fetch(`${one.url}/api/runs/${greedy}`)).status).toBe(200);
  one.child.kill("SIGUSR2");
  await expect.poll(async () => (await start(one)).status, patiently).toBe(201);
});

it("more connections than it may open files do not end it, nor the run it works on (F83)", async () => {
  const one = await serve({ stepMs: 500 }, { files: 64 });
  const runId = await readRunId(await start(one));
  const sockets = Array.from({ length: 150 }, () =>
    connect(Number(new URL(one.url).port), "127.0.0.1").on("error", () => undefined),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => isDone(one, runId).catch(() => false), patiently).toBe(true);
  expect((await start(one)).status).toBe(201);
});
