import type { ErrorData } from "../base/errors.ts";
import type { RunStatus } from "../kernel/event.ts";
import type { Usage } from "../kernel/model.ts";
import type { EvalCase } from "./eval-case.ts";
import type { Score } from "./scorer.ts";
import { computeMean, computeMeanInterval, type Interval, roundScore } from "./statistics.ts";

/** A user's own verdict on a result, which shows how far a judge can be trusted. */
export type Review = {
  readonly passed: boolean;
  readonly note?: string;
  readonly by?: string;
  readonly at: number;
};

/** The result of one attempt at one case. The run is an ordinary stored run. */
export type CaseResult = {
  readonly caseId: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly runId: string;
  readonly sessionId: string;
  readonly status: RunStatus | "waiting";
  /** The answer, shortened to 20,000 characters. */
  readonly text: string;
  readonly scores: readonly Score[];
  /** Whether it has scores, and all of them passed. */
  readonly passed: boolean;
  readonly cost: number;
  readonly ms: number;
  readonly turns: number;
  readonly usage: Usage;
  /** Why the run says nothing about the agent: a recording was missing, or the run could not start. */
  readonly error?: ErrorData;
  readonly review?: Review;
};

/** What an experiment says about one scorer. */
export type ScorerSummary = {
  readonly scorer: string;
  /** Of the cases' means, so that the attempts at one case do not count as independent cases. */
  readonly mean: number;
  readonly interval: Interval;
  /** The part of the attempts that passed. */
  readonly passRate: number;
  readonly cases: number;
  /** Attempts without a score, because the scorer failed. */
  readonly errors: number;
  /** How far the scorer agrees with the users' reviews; absent without reviews. */
  readonly agreement?: Agreement;
};

export type Agreement = {
  readonly reviewed: number;
  readonly agreed: number;
  readonly rate: number;
  readonly interval: Interval;
  /** Cohen's kappa: agreement beyond chance; 0 is chance, 1 is full agreement. Absent if all verdicts are the same. */
  readonly kappa?: number;
};

export type ExperimentSummary = {
  readonly scorers: readonly ScorerSummary[];
  readonly results: number;
  readonly passed: number;
  readonly passRate: number;
  readonly cost: number;
  readonly meanMs: number;
};

/** `stopped`: at a quota, see `error`. */
export type ExperimentStatus = "running" | "done" | "cancelled" | "interrupted" | "stopped";

/** A dataset, run against a version of an agent. */
export type Experiment = {
  readonly id: string;
  /** The name of the eval, or of the dataset. */
  readonly name: string;
  readonly dataset?: string;
  readonly agent: string;
  readonly agentVersion?: string;
  readonly status: ExperimentStatus;
  /** Why it is `stopped`. */
  readonly error?: ErrorData;
  readonly createdAt: number;
  readonly endedAt?: number;
  readonly attempts: number;
  readonly scorers: readonly string[];
  readonly cases: readonly EvalCase[];
  readonly results: readonly CaseResult[];
  readonly summary: ExperimentSummary;
};

/** Summarizes results per scorer. */
export function summarizeResults(
  results: readonly CaseResult[],
  scorers: readonly string[],
): ExperimentSummary {
  const passed = results.filter((result) => result.passed).length;
  return {
    scorers: scorers.map((scorer) => summarizeScorer(scorer, results)),
    results: results.length,
    passed,
    passRate: results.length === 0 ? 0 : roundScore(passed / results.length),
    cost: roundScore(results.reduce((sum, { cost }) => sum + cost, 0)),
    meanMs: Math.round(computeMean(results.map(({ ms }) => ms))),
  };
}

function summarizeScorer(scorer: string, results: readonly CaseResult[]): ScorerSummary {
  const all = results.flatMap(({ scores }) => scores.filter((score) => score.scorer === scorer));
  const valid = all.filter(({ error }) => error === undefined);
  const means = [...groupScores(results, scorer).values()].map(computeMean);
  const agreement = measureAgreement(results, scorer);
  return {
    scorer,
    mean: roundScore(computeMean(means)),
    interval: computeMeanInterval(means),
    passRate:
      valid.length === 0 ? 0 : roundScore(valid.filter((score) => score.passed).length / valid.length),
    cases: means.length,
    errors: all.length - valid.length,
    ...(agreement && { agreement }),
  };
}

/** Groups the valid scores of a scorer by case. A result with an error has no valid scores. */
export function groupScores(
  results: readonly CaseResult[],
  scorer: string,
): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const { caseId, scores, error } of results)
    for (const score of scores) {
      if (score.scorer !== scorer || score.error !== undefined || error) continue;
      const group = groups.get(caseId);
      if (group) group.push(score.value);
      else groups.set(caseId, [score.value]);
    }
  return groups;
}

/** Compares the verdicts of a scorer with the users' reviews. Undefined without reviews. */
export function measureAgreement(results: readonly CaseResult[], scorer: string): Agreement | undefined {
  const pairs = results.flatMap(({ scores, review }) => {
    const score = scores.find((one) => one.scorer === scorer && one.error === undefined);
    return score && review ? [{ byScorer: score.passed, byUser: review.passed }] : [];
  });
  if (pairs.length === 0) return undefined;
  const agreements = pairs.map(({ byScorer, byUser }) => (byScorer === byUser ? 1 : 0));
  const rate = computeMean(agreements);
  const [scorerRate, userRate] = [
    computeMean(pairs.map(({ byScorer }) => Number(byScorer))),
    computeMean(pairs.map(({ byUser }) => Number(byUser))),
  ];
  const chance = scorerRate * userRate + (1 - scorerRate) * (1 - userRate);
  return {
    reviewed: pairs.length,
    agreed: agreements.filter((value) => value === 1).length,
    rate: roundScore(rate),
    interval: computeMeanInterval(agreements),
    ...(chance < 1 && { kappa: roundScore((rate - chance) / (1 - chance)) }),
  };
}
