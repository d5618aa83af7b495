import { budgetWarnings } from "./budget.ts";
import { isHandingOver } from "./handoffs.ts";
import { note, type Rule } from "./rule.ts";

/** A turn ends when the model has spoken and each of its calls has a result; one that hands over gets it later. */
export const turnEnd: Rule = (view) => {
  const { run } = view;
  const { round } = run;
  if (!round?.message || round.ended) return undefined;
  if (round.unsettled > 0 && !isHandingOver(view)) return undefined;
  const { turn, usage } = round;
  return note(`end.${turn}`, { type: "turn_end", turn, usage }, ...budgetWarnings(run));
};
