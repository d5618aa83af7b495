import { budgetWarnings } from "./budget.ts";
import { note, type Rule } from "./rule.ts";

/** A turn ends when the model has spoken and each of its calls has a result. */
export const turnEnd: Rule = ({ run }) => {
  const { round } = run;
  if (!round?.message || round.unsettled > 0 || round.ended) return undefined;
  const { turn, usage } = round;
  return note(`end.${turn}`, { type: "turn_end", turn, usage }, ...budgetWarnings(run));
};
