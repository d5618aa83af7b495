import type { Fact } from "capstan";
import { getQuestion } from "./format-facts.ts";

/** A run to choose from. */
export type RunSummary = {
  readonly runId: string;
  readonly seq: number;
  readonly question: string;
  readonly agent: string;
  /** Number of the last turn. */
  turns: number;
  status: string;
  startedAt: number;
  updatedAt: number;
};

/** Returns the root runs of a session in the order they started. */
export function collectRuns(facts: readonly Fact[]): readonly RunSummary[] {
  const runs = new Map<string, RunSummary>();
  for (const fact of facts) {
    if (fact.parentRunId !== undefined) continue;
    const { runId, seq, agent, at: position } = fact;
    if (fact.type === "run_start") {
      const times = { turns: 0, status: "running", startedAt: position, updatedAt: position };
      runs.set(runId, { runId, seq, agent, question: getQuestion(fact), ...times });
    }
    const run = runs.get(runId);
    if (!run) continue;
    run.turns = Math.max(run.turns, fact.turn);
    run.updatedAt = position;
    if (fact.type === "done") run.status = fact.status;
    else run.status = fact.type === "waiting" ? "waiting" : "running";
  }
  return [...runs.values()];
}

/** Finds the root run of a fact. */
export function findRootRunId(facts: readonly Fact[], seq: number | undefined): string | undefined {
  if (seq === undefined) return undefined;
  // Positions start at 1 without gaps, except in truncated lists.
  const position = facts[seq - 1]?.seq === seq ? seq - 1 : facts.findIndex((fact) => fact.seq === seq);
  for (let index = position; index >= 0; index--) {
    const fact = facts[index];
    if (fact && fact.parentRunId === undefined) return fact.runId;
  }
  return undefined;
}
