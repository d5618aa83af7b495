import type { Fact, RunStatus } from "../kernel/event.ts";
import type { Usage } from "../kernel/model.ts";
import { addUsage, noUsage } from "../kernel/state.ts";
import { findEnd, isNested, readRuns } from "../runtime/load-facts.ts";
import type { SessionInfo, Store } from "../runtime/store.ts";
import { getTitle, getUserText, truncateTitle } from "./title.ts";

/** Summary of a run. `active` means started, and neither finished nor suspended. */
export type RunSummary = {
  readonly runId: string;
  readonly agent: string;
  readonly status: RunStatus | "waiting" | "active";
  /** The start of the user's message. */
  readonly words: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  readonly usage: Usage;
  readonly cost: number;
  /** The run comes from a file. */
  readonly imported?: true;
};

/** Summary of a session. */
export type SessionSummary = {
  readonly id: string;
  readonly title: string;
  readonly facts: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** In start order. */
  readonly runs: readonly RunSummary[];
  readonly usage: Usage;
  readonly cost: number;
};

/** Summarizes a session. Its facts may be newer than `info`. */
export async function summarizeSession(store: Store, info: SessionInfo): Promise<SessionSummary> {
  const runs: RunSummary[] = [];
  let [first, last]: (Fact | undefined)[] = [];
  for await (const run of readRuns(store, info.id)) {
    first ??= run[0];
    last = run.at(-1);
    runs.push(summarizeRun(run.filter((fact) => !isNested(fact))));
  }
  return {
    id: info.id,
    title: getTitle(first ? [first] : [], info.title),
    facts: last?.seq ?? 0,
    createdAt: first?.at ?? info.createdAt,
    updatedAt: last?.at ?? info.updatedAt,
    runs,
    usage: addUsage(noUsage, ...runs.map((run) => run.usage)),
    cost: runs.reduce((sum, run) => sum + run.cost, 0),
  };
}

/** Summarizes one run from its facts. */
export function summarizeRun(facts: readonly Fact[]): RunSummary {
  const [first] = facts;
  const last = facts.at(-1);
  const done = findEnd(facts);
  const usage = done?.usage ?? sumFactUsage(facts);
  return {
    runId: first?.runId ?? "",
    agent: last?.agent ?? "",
    status: done?.status ?? (last?.type === "waiting" ? "waiting" : "active"),
    words: first?.type === "run_start" ? truncateTitle(getUserText(first)) : "",
    startedAt: first?.at ?? 0,
    updatedAt: last?.at ?? 0,
    turns: facts.reduce((turns, fact) => Math.max(turns, fact.turn), 0),
    usage,
    cost: done?.cost ?? usage.cost ?? 0,
    ...(first?.type === "run_start" && first.imported && { imported: true }),
  };
}

function sumFactUsage(facts: readonly Fact[]): Usage {
  const usages = facts.flatMap((fact) => {
    if (fact.type === "message" || fact.type === "message_partial") return [fact.usage, fact.retryUsage];
    return fact.type === "compacted" || fact.type === "model_failed" ? [fact.usage] : [];
  });
  return addUsage(noUsage, ...usages);
}
