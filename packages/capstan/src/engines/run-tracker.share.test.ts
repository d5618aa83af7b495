import { afterEach, describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { getScope } from "../kernel/session-id.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type LocalEngine, type LocalOptions, local } from "./local.ts";

let engines: LocalEngine[] = [];
afterEach(() => {
  for (const engine of engines) void engine.close(); // does not resolve while a model hangs
  engines = [];
});

type Started = { readonly runId: string; readonly user: string };

/** A process that stores runs of several users, and workers that execute them. */
function createWorld({ hang }: { readonly hang: boolean }) {
  const store = memory();
  const model = scriptedModel(() => ({ text: "Done.", hang }), { record: false });
  const agent = defineAgent({ name: "slow", model });
  const front = local({ store, agents: agent, work: false });
  engines.push(front);
  const started: Started[] = [];
  const startWorker = (limits: Pick<LocalOptions, "maxRuns" | "maxRunsPerUser">): LocalEngine => {
    const onRunStart = ({ runId, sessionId }: { runId: string; sessionId: string }) =>
      void started.push({ runId, user: getScope(sessionId) });
    const worker = local({ store, agents: agent, onRunStart, ...limits });
    engines.push(worker);
    return worker;
  };
  const enqueue = async (user: string, count: number) => {
    for (let n = 0; n < count; n++) await front.enqueue(agent, "Go", { session: `${user}~${n}` });
  };
  const countStarted = (user: string) => started.filter((run) => run.user === user).length;
  return { front, started, startWorker, enqueue, countStarted };
}

describe("a worker", () => {
  it("that is full of one user's runs takes another user's first run", async () => {
    const { startWorker, enqueue, countStarted } = createWorld({ hang: true });
    await enqueue("ada", 30);
    const worker = startWorker({ maxRuns: 10 });
    await worker.recover();
    await expect.poll(() => countStarted("ada")).toBe(9);
    await enqueue("bob", 1);
    await worker.recover();
    await expect.poll(() => countStarted("bob")).toBe(1);
    expect(countStarted("ada")).toBe(9);
  });

  it("executes as many runs of a user as `maxRunsPerUser` says, and the next when one ends", async () => {
    const { front, started, startWorker, enqueue, countStarted } = createWorld({ hang: true });
    await enqueue("ada", 5);
    const worker = startWorker({ maxRuns: 10, maxRunsPerUser: 2 });
    await worker.recover();
    await expect.poll(() => countStarted("ada")).toBe(2);
    const [first] = started as [Started];
    await front.open(first.runId).cancel("Enough.");
    await expect
      .poll(async () => {
        await worker.recover();
        return countStarted("ada");
      })
      .toBe(3);
  });

  it("does not limit sessions without a user", async () => {
    const { startWorker, enqueue, countStarted } = createWorld({ hang: true });
    await enqueue("", 10);
    await startWorker({ maxRuns: 10, maxRunsPerUser: 1 }).recover();
    await expect.poll(() => countStarted("")).toBe(10);
  });

  it("starts another user's first run soon, whatever one user has enqueued before", async () => {
    const { started, startWorker, enqueue, countStarted } = createWorld({ hang: false });
    await enqueue("ada", 1_000);
    await enqueue("bob", 1);
    startWorker({ maxRuns: 10 });
    await expect.poll(() => countStarted("bob")).toBe(1);
    expect(started.findIndex(({ user }) => user === "bob")).toBeLessThan(20);
  });
});
