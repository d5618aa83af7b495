import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fact, isFact } from "capstan";
import { createClient } from "capstan/client";
import { expect } from "vitest";
import { type Balancer, startBalancer } from "./balancer.ts";
import type { ServerOrder } from "./server-worker.ts";
import type { SlowPlan } from "./slow-agent.ts";
import { type ServerProcess, startServerWorker } from "./start-server-worker.ts";

const patiently = { timeout: 120_000, interval: 20 };
const words = "one two three four five ";
const callsPerRun = 3;

/** Reads a run like a plain client of server-sent events, and reconnects after the last id that it got. */
export async function readPlainEvents(url: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  for (;;) {
    const lastId = facts.at(-1)?.seq;
    const headers = lastId === undefined ? {} : { "last-event-id": `${lastId}` };
    const text = await fetch(url, { headers }).then(
      async (answer) => (answer.ok ? await readToEnd(answer) : ""),
      () => "", // no server was ready
    );
    for (const frame of text.split("\n\n"))
      if (frame.startsWith("id: ")) facts.push(JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
    if (facts.at(-1)?.type === "done") return facts;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns the frames that arrived as a whole before the connection ended. */
async function readToEnd({ body }: Response): Promise<string> {
  let text = "";
  try {
    for await (const piece of body ?? []) text += Buffer.from(piece).toString("utf8");
  } catch {
    // the connection was cut
  }
  return text.slice(0, text.lastIndexOf("\n\n") + 1);
}

/** Each run must have arrived once, in order and to its end. */
function assertComplete(facts: readonly Fact[]): void {
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
  expect(facts.filter(({ type }) => type === "run_start")).toHaveLength(1);
  expect(facts.filter(({ type }) => type === "done")).toHaveLength(1);
  expect(facts.at(-1)).toMatchObject({ type: "done", status: "done" });
  expect(facts.filter(({ type }) => type === "tool_call_result")).toHaveLength(callsPerRun);
}

/**
 * Restarts two servers on one store in turn with SIGTERM, behind a balancer, while runs are in the middle of a message.
 * Asserts that no reader misses or repeats a fact, and that no work is lost or done twice.
 */
export async function restartInTurn(store: ServerOrder["store"], count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-rolling-"));
  const canary = join(folder, "canary");
  const gates = [join(folder, "first"), join(folder, "second")] as const;
  const order: ServerOrder = { store, port: 0, canary, leaseMs: 60_000, patienceMs: 60_000 };
  const servers = await Promise.all([startServerWorker(order), startServerWorker(order)]);
  const balancer = await startBalancer(servers.map(({ port }) => port));
  try {
    for (const { port } of servers) await expect.poll(() => balancer.isReady(port), patiently).toBe(true);
    const client = createClient({ baseURL: balancer.url, retries: 20 });
    // The second and the third message end when the server that is shutting down may finish.
    const plan: SlowPlan = [
      { say: words, call: "look" },
      ...gates.map((waitFor) => ({ say: words, waitFor, call: "look" }) as const),
    ];
    const isStopping = ({ port }: ServerProcess) => !balancer.isReady(port);
    const runs = Array.from({ length: count }, async (_, index) => {
      if (index >= count / 2) await expect.poll(() => servers.some(isStopping), patiently).toBe(true);
      const { runId } = await client.runs.start({ input: JSON.stringify(plan) });
      const followed: Fact[] = [];
      const [plain] = await Promise.all([
        readPlainEvents(`${balancer.url}/api/runs/${runId}/events`),
        (async () => {
          for await (const event of client.runs.events(runId)) if (isFact(event)) followed.push(event);
        })(),
      ]);
      assertComplete(plain);
      expect(followed).toEqual(plain);
    });
    const all = Promise.all(runs);
    await Promise.race([restartServers({ servers, order, balancer, gates }), all.then(() => undefined)]);
    await all;
    const executions = readFileSync(canary, "utf8").trim().split("\n");
    expect(executions).toHaveLength(count * callsPerRun);
    expect(new Set(executions).size).toBe(count * callsPerRun);
  } finally {
    await balancer.close();
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(folder, { recursive: true });
  }
}

type RestartContext = {
  readonly servers: ServerProcess[];
  readonly order: ServerOrder;
  readonly balancer: Balancer;
  /** Files that let the messages of the runs end. */
  readonly gates: readonly string[];
};

async function restartServers({ servers, order, balancer, gates }: RestartContext): Promise<void> {
  for (const [index, gate] of gates.entries()) {
    const { port, stop } = servers[index] as ServerProcess;
    const stopped = stop();
    await expect.poll(() => balancer.isReady(port), patiently).toBe(false);
    writeFileSync(gate, "");
    await stopped;
    servers[index] = await startServerWorker({ ...order, port });
    await expect.poll(() => balancer.isReady(port), patiently).toBe(true);
  }
}
