import { note, type Rule } from "./rule.ts";
import { isLastTurn } from "./wrap-up.ts";

/** No turn after the last one. */
export const turnLimit: Rule = ({ run }) => {
  if (run.turn === 0 || !isLastTurn(run, run.turn)) return undefined;
  const message = `The limit of ${run.policy.maxTurns} ${run.policy.maxTurns === 1 ? "turn" : "turns"} was reached.`;
  return note("limit", { type: "limit_reached", code: "max_turns", message, turns: run.turn });
};
