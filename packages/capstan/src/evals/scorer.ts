import { formatValue } from "../base/definition.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import type { Fact } from "../kernel/event.ts";
import type { Store } from "../runtime/store.ts";
import type { EvalCase } from "./eval-case.ts";
import type { GetEvalRunOptions } from "./eval-run-options.ts";
import type { RunOutcome } from "./run-outcome.ts";

/** The score of one run by one scorer. */
export type Score = {
  readonly scorer: string;
  /** From 0 (bad) to 1 (good). */
  readonly value: number;
  readonly passed: boolean;
  readonly reason?: string;
  readonly details?: Json;
  /** Why there is no score. Such a score counts neither for nor against the agent; `value` is 0. */
  readonly error?: string;
};

/** What a scorer gets: the facts of a run, what they say, and its case. */
export type ScoredRun = RunOutcome & {
  readonly case: EvalCase;
  /** All facts of the run and its nested runs. */
  readonly facts: readonly Fact[];
  /** Where a scorer stores what it does itself, such as the run of a judge. */
  readonly store: Store;
  /** Options of what a scorer runs itself. */
  readonly getRunOptions?: GetEvalRunOptions;
  readonly signal?: AbortSignal;
};

/** What a scorer returns. A number passes from `passAt` (default 1); undefined: the scorer does not apply to the case. */
export type ScoreValue =
  | undefined
  | boolean
  | number
  | {
      readonly value: number;
      readonly passed?: boolean;
      readonly reason?: string;
      readonly details?: Json;
    };

/** A function over the facts of a run. */
export interface Scorer {
  readonly name: string;
  score(run: ScoredRun): ScoreValue | Promise<ScoreValue>;
}

/** Scores a run. A scorer that throws gives a score with an `error`. Rejects with `quota_exceeded`. */
export async function scoreRun(scorers: readonly Scorer[], run: ScoredRun): Promise<readonly Score[]> {
  const scores = await Promise.all(scorers.map((scorer) => applyScorer(scorer, run)));
  return scores.flatMap((score) => score ?? []);
}

async function applyScorer(scorer: Scorer, run: ScoredRun): Promise<Score | undefined> {
  try {
    return toScore(scorer.name, await scorer.score(run));
  } catch (thrown) {
    const { code, message } = describeThrown(thrown, "internal");
    if (code === "quota_exceeded") throw thrown;
    return { scorer: scorer.name, value: 0, passed: false, error: message };
  }
}

function toScore(scorer: string, given: ScoreValue): Score | undefined {
  if (given === undefined) return undefined;
  if (typeof given === "boolean") return { scorer, value: given ? 1 : 0, passed: given };
  const { value, passed, reason, details } = isRecord(given) ? given : { value: given };
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) {
    const message = `The scorer "${scorer}" returned ${formatValue(given)}: a score is a number from 0 to 1.`;
    throw new AgentError("invalid_definition", message);
  }
  return {
    scorer,
    value,
    passed: passed ?? value === 1,
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details }),
  };
}
