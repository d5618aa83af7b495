import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, startPostgres } from "@capstan/verification/postgres";
import { type Fact, isFact } from "capstan";
import { type Client, createClient } from "capstan/client";
import { expect, it } from "vitest";
import { startBalancer } from "./testing/balancer.ts";
import { readPlainEvents } from "./testing/rolling-restart.ts";
import type { SlowPlan } from "./testing/slow-agent.ts";
import { startServerWorker } from "./testing/start-server-worker.ts";

const leaseMs = 1_000;
const runCount = 6;

async function collectFacts(client: Client, runId: string, onFact?: (fact: Fact) => void): Promise<Fact[]> {
  const facts: Fact[] = [];
  for await (const event of client.runs.events(runId)) {
    if (!isFact(event)) continue;
    facts.push(event);
    onFact?.(event);
  }
  return facts;
}

it.skipIf(!findPostgresFolder())(
  "a server that is paused behind a balancer for longer than its lease loses its runs and stores nothing more; clients get each fact once (F74, F75)",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-pause-"));
    const postgres = await startPostgres();
    const [canary, gate] = [join(folder, "canary"), join(folder, "gate")];
    const order = { store: { type: "postgres", url: postgres.url } as const, port: 0, canary, leaseMs };
    const [first, second] = await Promise.all([startServerWorker(order), startServerWorker(order)]);
    const balancer = await startBalancer([first.port, second.port]);
    try {
      for (const { port } of [first, second]) await expect.poll(() => balancer.isReady(port)).toBe(true);
      const client = createClient({ baseURL: balancer.url, retries: 50 });
      const direct = createClient({ baseURL: first.url });
      const plan: SlowPlan = [
        { say: "one two ", call: "look" },
        { say: "three ", waitFor: gate, call: "look" },
        { say: "four ", call: "look" },
      ];
      // All start on the first server, and are in the middle of their second message when it is paused.
      const started = Array.from({ length: runCount }, () =>
        direct.runs.start({ input: JSON.stringify(plan) }),
      );
      const runIds = (await Promise.all(started)).map(({ runId }) => runId);
      const countExecutions = () =>
        readFileSync(canary, { encoding: "utf8", flag: "a+" }).split("\n").length - 1;
      const inSecondTurn = new Set<string>();
      const noteTurn = ({ type, turn, runId }: Fact) => {
        if (type === "turn_start" && turn === 2) inSecondTurn.add(runId);
      };
      const followed = runIds.map((runId) => collectFacts(client, runId, noteTurn));
      const plain = runIds.map((runId) => readPlainEvents(`${balancer.url}/api/runs/${runId}/events`));
      await expect.poll(() => inSecondTurn.size).toBe(runCount);
      first.pause();
      await expect.poll(() => balancer.isReady(first.port)).toBe(false);
      writeFileSync(gate, "");
      const facts = await Promise.all(plain);
      expect(await Promise.all(followed)).toEqual(facts);
      for (const run of facts) {
        expect(run.map(({ seq }) => seq)).toEqual(run.map((_, index) => index + 1));
        expect(run.some(({ type }) => type === "recovered")).toBe(true);
        expect(run.at(-1)).toMatchObject({ type: "done", status: "done", text: "Done: seen seen seen" });
      }
      expect(countExecutions()).toBe(3 * runCount);
      first.resume();
      await expect.poll(() => balancer.isReady(first.port)).toBe(true);
      // It works again, and has added nothing to the runs that it lost.
      const next = await direct.runs.start({ input: JSON.stringify([{ say: "five ", call: "look" }]) });
      expect((await collectFacts(direct, next.runId)).at(-1)).toMatchObject({ text: "Done: seen" });
      for (const [index, runId] of runIds.entries())
        expect(await collectFacts(direct, runId)).toEqual(facts[index]);
      expect(countExecutions()).toBe(3 * runCount + 1);
    } finally {
      await Promise.all([first.kill(), second.kill()]);
      await balancer.close();
      await postgres.stop();
      rmSync(folder, { recursive: true });
    }
  },
);
