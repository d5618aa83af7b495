import { type Fact, isFact } from "capstan";
import { describeThrown } from "capstan/internal/verification";
import { subscribe } from "capstan/sessions";
import type { AuditedStore } from "./audited-store.ts";
import type { Fleet, FleetMember } from "./fleet.ts";
import type { PlannedRun } from "./plan.ts";
import type { World } from "./world.ts";

/** A reader of all facts of a run or session, through any worker. */
export interface Reader {
  /** True if the reader has received all facts. */
  isComplete(): boolean;
  assertComplete(): void;
}

export function createReader(
  world: World,
  fleet: Fleet,
  { audited, run, isSessionReader }: ReaderOptions,
): Reader {
  const { random, scheduler } = world;
  const received: Fact[] = [];
  const runId = isSessionReader ? undefined : run.runId;
  const listExpectedFacts = () =>
    audited.facts.getSession(run.session).facts.filter((fact) => runId === undefined || fact.runId === runId);
  let attempt = 0;
  let calmAttempt: number | undefined;

  /** Reads through one worker until the stream ends, is cut off, or the worker is gone. */
  async function readFrom({ worker, store }: FleetMember, isCurrent: () => boolean): Promise<void> {
    const abort = new AbortController();
    const after = received.at(-1)?.seq ?? 0;
    const subject = runId === undefined ? { sessionId: run.session, after } : { runId, after };
    if (!world.isCalm) worker.schedule(random.below(1500), () => abort.abort());
    try {
      for await (const event of subscribe(store, subject, { signal: abort.signal })) {
        if (!isCurrent()) return;
        if (isFact(event)) addFact(event);
        if (random.chance(0.2)) await worker.sleep(random.below(50));
        if (!isCurrent()) return;
      }
    } catch (thrown) {
      const { code } = describeThrown(thrown, "tool_failed");
      if (!["store_failed", "unknown_run", "newer_version"].includes(code))
        world.reportViolation("only store errors disconnect a reader", `${code} ${thrown}`);
    }
  }

  function addFact(fact: Fact): void {
    const expected = listExpectedFacts()[received.length];
    if (expected?.seq !== fact.seq)
      world.reportViolation(
        "a reader gets every fact once and in order",
        `${fact.seq} instead of ${expected?.seq}`,
      );
    received.push(fact);
  }

  function connect(): void {
    // Reconnect after a while; without faults, one connection is enough.
    scheduler.after(random.between(300, 2000), connect);
    if (calmAttempt === attempt) return;
    const member = fleet.pickAwake();
    const current = ++attempt;
    if (member && world.isCalm) calmAttempt = current;
    if (!member) return;
    readFrom(member, () => current === attempt).then(
      () => {
        // Without faults, the stream ends only at the end of the run, which may be retried.
        calmAttempt = undefined;
      },
      (error) => world.reportViolation("readers work", String(error)),
    );
  }

  const isComplete = () =>
    received.length === listExpectedFacts().length &&
    (runId === undefined || received.at(-1)?.type === "done");
  scheduler.after(random.below(1000), connect);
  return {
    isComplete,
    assertComplete() {
      if (!isComplete())
        world.reportViolation(
          "a reader gets every fact",
          `${received.length} of ${listExpectedFacts().length}`,
        );
    },
  };
}

type ReaderOptions = {
  readonly audited: AuditedStore;
  readonly run: PlannedRun;
  readonly isSessionReader: boolean;
};
