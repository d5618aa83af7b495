import type { EvalCase } from "capstan/evals";
import { formatCount } from "capstan/sessions";

/** The tools and the agent with which cases repeat the runs that they were saved from. */
export type ExperimentDefaults = {
  /** The agent of most cases, else the first one; undefined if there is none. */
  readonly agent: string | undefined;
  readonly tools: "recorded" | "simulated";
};

/** Chooses the defaults for cases among the agents that can run. */
export function chooseDefaults(
  cases: readonly Pick<EvalCase, "source">[],
  agents: readonly string[],
): ExperimentDefaults {
  const counts = new Map<string, number>();
  for (const { source } of cases)
    if (source?.agent !== undefined && agents.includes(source.agent))
      counts.set(source.agent, (counts.get(source.agent) ?? 0) + 1);
  const [[agent] = [agents[0]]] = [...counts].toSorted(([, left], [, right]) => right - left);
  return { agent, tools: cases.some(({ source }) => source) ? "recorded" : "simulated" };
}

/** Says which cases the agent was not saved with; undefined if there are none. */
export function describeOtherAgents(
  cases: readonly Pick<EvalCase, "source">[],
  agent: string | undefined,
): string | undefined {
  const others = cases.filter(({ source }) => source?.agent !== undefined && source.agent !== agent).length;
  return others === 0 ? undefined : `${formatPart(others, cases.length)} from a run of another agent.`;
}

/** Says which cases have no recorded answers; undefined if all have, or if none are needed. */
export function describeMissingRecordings(
  cases: readonly Pick<EvalCase, "source">[],
  tools: string,
): string | undefined {
  const missing = tools === "recorded" ? cases.filter(({ source }) => !source).length : 0;
  if (missing === 0) return undefined;
  return `${formatPart(missing, cases.length, "not ")} from a run: a tool call fails there.`;
}

const formatPart = (count: number, total: number, not = ""): string =>
  `${count} of ${formatCount(total, "case")} ${count === 1 ? "was" : "were"} ${not}saved`;
