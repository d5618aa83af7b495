import { remainingMs } from "./budget.ts";
import { modelRetry } from "./model-effect.ts";
import type { Rule } from "./rule.ts";

const longestSummaryMs = 30_000;

/** After each turn, where it is wanted, a model says for people what was done. Nothing of it goes back to the agent. */
export const turnSummary: Rule = ({ run }) => {
  const { round } = run;
  if (!run.policy.summaries || !round?.message || !round.ended || round.isSummarised) return undefined;
  const { turn } = round;
  return {
    type: "effects",
    effects: [
      {
        type: "turn_summary",
        id: `summary.${turn}`,
        agent: run.agent,
        turn,
        timeoutMs: longestSummaryMs,
        deadlineMs: Math.min(longestSummaryMs, remainingMs(run)),
        retry: { ...modelRetry, maxAttempts: 1 },
      },
    ],
  };
};
