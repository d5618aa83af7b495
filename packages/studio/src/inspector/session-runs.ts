import type { Fact } from "capstan";
import { questionOf } from "./fact-text.ts";

/** A run as people choose it. */
export type RunChoice = {
  readonly runId: string;
  readonly seq: number;
  readonly question: string;
  readonly agent: string;
  /** The number of the last turn. */
  turns: number;
  status: string;
  startedAt: number;
  updatedAt: number;
};

/** The runs of a session in the order they began, without those inside others. */
export function runsIn(facts: readonly Fact[]): readonly RunChoice[] {
  const runs = new Map<string, RunChoice>();
  for (const fact of facts) {
    if (fact.parentRunId !== undefined) continue;
    const { runId, seq, agent, at } = fact;
    if (fact.type === "run_start") {
      const times = { turns: 0, status: "running", startedAt: at, updatedAt: at };
      runs.set(runId, { runId, seq, agent, question: questionOf(fact), ...times });
    }
    const run = runs.get(runId);
    if (!run) continue;
    run.turns = Math.max(run.turns, fact.turn);
    run.updatedAt = at;
    if (fact.type === "done") run.status = fact.status;
    else run.status = fact.type === "waiting" ? "waiting" : "running";
  }
  return [...runs.values()];
}

/** Of a fact: the run on the outside that it belongs to. */
export function outerRunId(facts: readonly Fact[], seq: number | undefined): string | undefined {
  if (seq === undefined) return undefined;
  // Positions count from 1 without gaps, but for lists that were cut.
  const at = facts[seq - 1]?.seq === seq ? seq - 1 : facts.findIndex((fact) => fact.seq === seq);
  for (let index = at; index >= 0; index--) {
    const fact = facts[index];
    if (fact && fact.parentRunId === undefined) return fact.runId;
  }
  return undefined;
}
