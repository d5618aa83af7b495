import type { Agent, RunInfo } from "capstan";
import { formatCount } from "capstan/sessions";

/** Formats how many orphaned runs of these agents the server resumes; undefined without any. */
export function formatOrphanedRuns(left: readonly RunInfo[], agents: readonly Agent[]): string | undefined {
  const { length } = left.filter(({ agent }) => agents.some(({ name }) => name === agent));
  if (length === 0) return undefined;
  return `Resuming ${formatCount(length, "unfinished run")}.`;
}
