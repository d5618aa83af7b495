import type { FactRows } from "../../kernel/fact-row.ts";
import { addUsage } from "../../kernel/state.ts";

export const turnSummaryFacts: FactRows<"turn_summary"> = {
  turn_summary: {
    id: ({ type, turn }, { prefix }) => `${prefix}/${type}/${turn}`,
    fold(_, run, { usage }) {
      if (run.currentTurn) run.currentTurn.isSummarized = true;
      if (usage) run.usage = addUsage(run.usage, usage);
    },
  },
};
