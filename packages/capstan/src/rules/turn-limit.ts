import { returnEmpty } from "./handoffs.ts";
import { note, type Rule } from "./rule.ts";
import { isLastTurn } from "./wrap-up.ts";

/** No turn after the last one. A specialist without an answer by then gives back to whoever waits for it. */
export const turnLimit: Rule = (view) => {
  const { run } = view;
  if (run.turn === 0 || !isLastTurn(run, run.turn)) return undefined;
  const frame = run.handoffs.at(-1);
  if (frame) return returnEmpty(view, frame);
  const message = `The limit of ${run.policy.maxTurns} ${run.policy.maxTurns === 1 ? "turn" : "turns"} was reached.`;
  return note("limit", { type: "limit_reached", code: "max_turns", message, turns: run.turn });
};
