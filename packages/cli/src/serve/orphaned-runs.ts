import type { Agent, RunInfo } from "capstan";

/** In a line, that a server goes on with runs of a process that is gone; undefined when none is of these agents. */
export function formatOrphanedRuns(left: readonly RunInfo[], agents: readonly Agent[]): string | undefined {
  const { length } = left.filter(({ agent }) => agents.some(({ name }) => name === agent));
  if (length === 0) return undefined;
  return `Goes on with ${length === 1 ? "1 run that was" : `${length} runs that were`} not over.`;
}
