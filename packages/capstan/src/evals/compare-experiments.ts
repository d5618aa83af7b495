import { AgentError } from "../base/errors.ts";
import { type CaseResult, type Experiment, groupScores } from "./experiment.ts";
import {
  computeDifferenceInterval,
  computeMean,
  computePairedInterval,
  type Interval,
  roundScore,
} from "./statistics.ts";

export type Verdict = "better" | "worse" | "cannot tell";

/** Two means, their difference with its interval of 95 %, and what that says. */
export type Difference = {
  readonly scorer: string;
  readonly before: number;
  readonly after: number;
  readonly difference: number;
  readonly interval: Interval;
  readonly verdict: Verdict;
};

export type CaseComparison = {
  readonly caseId: string;
  /** From the attempts at this case alone: it takes about four on each side to tell. */
  readonly scores: readonly Difference[];
  readonly before: readonly CaseResult[];
  readonly after: readonly CaseResult[];
};

export type Comparison = {
  readonly before: ComparedExperiment;
  readonly after: ComparedExperiment;
  /** Of the cases that both have, paired: it takes at least six cases to tell. */
  readonly scorers: readonly (Difference & { readonly cases: number })[];
  readonly cases: readonly CaseComparison[];
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
};

type ComparedExperiment = Pick<
  Experiment,
  "id" | "name" | "agent" | "agentVersion" | "createdAt" | "summary"
>;

/** Compares two experiments per scorer and per case. Throws `invalid_input` if they have no case in common. */
export function compareExperiments(before: Experiment, after: Experiment): Comparison {
  const [beforeIds, afterIds] = [listCaseIds(before), listCaseIds(after)];
  const common = afterIds.filter((id) => beforeIds.includes(id));
  if (common.length === 0) {
    const message = `The experiments "${before.id}" and "${after.id}" have no case in common: compare two of the same dataset.`;
    throw new AgentError("invalid_input", message);
  }
  const names = after.scorers.filter((name) => before.scorers.includes(name));
  const groups = names.map((scorer) => ({
    scorer,
    before: groupScores(before.results, scorer),
    after: groupScores(after.results, scorer),
  }));
  return {
    before: toCompared(before),
    after: toCompared(after),
    scorers: groups.flatMap((group) => {
      const shared = common.filter((id) => group.before.has(id) && group.after.has(id));
      const [left, right] = [group.before, group.after].map((values) =>
        shared.map((id) => computeMean(values.get(id) ?? [])),
      ) as [number[], number[]];
      if (shared.length === 0) return [];
      const differences = right.map((value, index) => roundScore(value - (left[index] ?? 0)));
      const means = toDifference(
        group.scorer,
        { before: left, after: right },
        computePairedInterval(differences),
      );
      return { ...means, cases: shared.length };
    }),
    cases: common.map((caseId) => ({
      caseId,
      scores: groups.flatMap(({ scorer, before: left, after: right }) => {
        const [from, to] = [left.get(caseId), right.get(caseId)];
        return from && to
          ? toDifference(scorer, { before: from, after: to }, computeDifferenceInterval(from, to))
          : [];
      }),
      before: before.results.filter((result) => result.caseId === caseId),
      after: after.results.filter((result) => result.caseId === caseId),
    })),
    onlyBefore: beforeIds.filter((id) => !afterIds.includes(id)),
    onlyAfter: afterIds.filter((id) => !beforeIds.includes(id)),
  };
}

function listCaseIds({ results }: Experiment): readonly string[] {
  return [...new Set(results.map(({ caseId }) => caseId))];
}

function toCompared({ id, name, agent, agentVersion, createdAt, summary }: Experiment): ComparedExperiment {
  return { id, name, agent, ...(agentVersion !== undefined && { agentVersion }), createdAt, summary };
}

function toDifference(
  scorer: string,
  { before, after }: { readonly before: readonly number[]; readonly after: readonly number[] },
  interval: Interval,
): Difference {
  const [left, right] = [roundScore(computeMean(before)), roundScore(computeMean(after))];
  const [low, high] = interval;
  const verdict = low > 0 ? "better" : high < 0 ? "worse" : "cannot tell";
  return { scorer, before: left, after: right, difference: roundScore(right - left), interval, verdict };
}
