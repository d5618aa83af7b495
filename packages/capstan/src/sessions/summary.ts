import type { Fact, RunStatus } from "../event.ts";
import type { Usage } from "../model.ts";
import { addUsage, noUsage } from "../state/state.ts";
import type { SessionInfo } from "../store.ts";
import { findEnd, groupByRun } from "./load-facts.ts";
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

/** Summarizes a session. The facts may be newer than `info`. */
export function summarizeSession(info: SessionInfo, facts: readonly Fact[]): SessionSummary {
  const runs = [...groupByRun(facts).values()].map(summarizeRun);
  return {
    id: info.id,
    title: getTitle(facts, info.title),
    facts: facts.length,
    createdAt: facts[0]?.at ?? info.createdAt,
    updatedAt: facts.at(-1)?.at ?? info.updatedAt,
    runs,
    usage: runs.map((run) => run.usage).reduce(addUsage, noUsage),
    cost: runs.reduce((sum, run) => sum + run.cost, 0),
  };
}

/** Summarizes one run from its facts. */
export function summarizeRun(facts: readonly Fact[]): RunSummary {
  const [first] = facts;
  const last = facts.at(-1);
  const done = findEnd(facts);
  const usage = done?.usage ?? sumUsage(facts);
  return {
    runId: first?.runId ?? "",
    agent: last?.agent ?? "",
    status: done?.status ?? (last?.type === "waiting" ? "waiting" : "active"),
    words: first?.type === "run_start" ? truncateTitle(getUserText(first)) : "",
    startedAt: first?.at ?? 0,
    updatedAt: last?.at ?? 0,
    turns: Math.max(0, ...facts.map((fact) => fact.turn)),
    usage,
    cost: done?.cost ?? usage.cost ?? 0,
  };
}

function sumUsage(facts: readonly Fact[]): Usage {
  const usages = facts.map((fact) => {
    const isCounted = fact.type === "message" || fact.type === "message_partial" || fact.type === "compacted";
    return (isCounted ? fact.usage : undefined) ?? noUsage;
  });
  return usages.reduce(addUsage, noUsage);
}
