import { formatCount } from "../base/format-count.ts";
import type { Comparison } from "./compare-experiments.ts";
import type { Thresholds } from "./define-eval.ts";
import type { Experiment } from "./experiment.ts";

/** Returns why an experiment fails, one sentence each; empty if it passes. A comparison fails if a scorer got worse. */
export function checkThresholds(
  { status, summary, results }: Experiment,
  thresholds: Thresholds = {},
  comparison?: Comparison,
): readonly string[] {
  const { scores = {}, cost } = thresholds;
  const { passRate = Object.keys(scores).length > 0 ? 0 : 1 } = thresholds;
  const problems: string[] = [];
  if (status !== "done") problems.push(`The experiment is ${status}.`);
  const errors = results.filter(({ error }) => error !== undefined).length;
  if (errors > 0)
    problems.push(`${errors} of ${formatCount(results.length, "attempt")} could not be evaluated.`);
  if (summary.passRate < passRate)
    problems.push(
      `${summary.passed} of ${formatCount(summary.results, "attempt")} passed (${formatRate(summary.passRate)}); at least ${formatRate(passRate)} must.`,
    );
  for (const { scorer, mean, cases, errors: failures } of summary.scorers) {
    const minimum = Object.hasOwn(scores, scorer) ? (scores[scorer] ?? 0) : 0;
    if (cases === 0 && minimum > 0) problems.push(`${scorer} applies to no case.`);
    else if (mean < minimum)
      problems.push(`${scorer} is ${formatScore(mean)}; at least ${formatScore(minimum)} is required.`);
    if (failures > 0) problems.push(`${scorer} gave no score for ${formatCount(failures, "attempt")}.`);
  }
  if (cost !== undefined && summary.cost > cost)
    problems.push(`The runs cost $${summary.cost.toFixed(4)}; at most $${cost.toFixed(4)} is allowed.`);
  for (const { scorer, verdict, difference } of comparison?.scorers ?? [])
    if (verdict === "worse") problems.push(`${scorer} got worse by ${formatScore(Math.abs(difference))}.`);
  return problems;
}

export function formatScore(value: number): string {
  return value.toFixed(2);
}

export function formatRate(rate: number): string {
  return `${Math.round(rate * 1000) / 10} %`;
}
