import { describeThrown } from "../errors.ts";
import { type Fact, isFact } from "../event.ts";
import { subscribe } from "../sessions/subscribe.ts";
import type { AuditedStore } from "./audited-store.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { PlannedRun } from "./plan.ts";
import type { World } from "./world.ts";

/** Somebody who wants to see everything of a run or of a session, through whatever process there is. */
export interface Reader {
  /** Whether it has all there is. */
  isComplete(): boolean;
  compare(): void;
}

export function newReader(world: World, fleet: Fleet, { audited, run, ofSession }: Reading): Reader {
  const { chance, scheduler } = world;
  const read: Fact[] = [];
  const runId = ofSession ? undefined : run.runId;
  const wanted = () =>
    audited.facts.sessionOf(run.session).facts.filter((fact) => runId === undefined || fact.runId === runId);
  let attempt = 0;
  let calmAttempt: number | undefined;

  /** Reads on in a process until it has enough, is cut off, or the process is no more. */
  async function follow({ worker, store }: Member, isCurrent: () => boolean): Promise<void> {
    const leave = new AbortController();
    const after = read.at(-1)?.seq ?? 0;
    const subject = runId === undefined ? { sessionId: run.session, after } : { runId, after };
    if (!world.isCalm) worker.later(chance.below(1500), () => leave.abort());
    try {
      for await (const event of subscribe(store, subject, { signal: leave.signal })) {
        if (!isCurrent()) return;
        if (isFact(event)) add(event);
        if (chance.is(0.2)) await worker.sleep(chance.below(50));
        if (!isCurrent()) return;
      }
    } catch (thrown) {
      const { code } = describeThrown(thrown, "tool_failed");
      if (code !== "store_failed" && code !== "unknown_run")
        world.violate("a reader is cut off for no other reason than the store", `${code} ${thrown}`);
    }
  }

  function add(fact: Fact): void {
    const expected = wanted()[read.length];
    if (expected?.seq !== fact.seq)
      world.violate("a reader gets every fact once and in order", `${fact.seq} instead of ${expected?.seq}`);
    read.push(fact);
  }

  function connect(): void {
    // Whoever hears nothing for a while connects anew; when all is well, once is enough.
    scheduler.after(chance.between(300, 2000), connect);
    if (calmAttempt === attempt) return;
    const member = fleet.any();
    const current = ++attempt;
    if (member && world.isCalm) calmAttempt = current;
    if (!member) return;
    follow(member, () => current === attempt).then(
      () => {
        if (!isComplete()) calmAttempt = undefined;
      },
      (error) => world.violate("readers work", String(error)),
    );
  }

  const isComplete = () =>
    read.length === wanted().length && (runId === undefined || read.at(-1)?.type === "done");
  scheduler.after(chance.below(1000), connect);
  return {
    isComplete,
    compare() {
      if (!isComplete()) world.violate("a reader gets every fact", `${read.length} of ${wanted().length}`);
    },
  };
}

type Reading = { readonly audited: AuditedStore; readonly run: PlannedRun; readonly ofSession: boolean };
