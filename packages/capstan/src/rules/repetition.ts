import type { RunState } from "../state.ts";
import { note, type Rule } from "./rule.ts";

const mostUnknownTools = 3;

/** The same call with the same result again and again, or one invented tool after the other: the run is stuck. */
export const repetition: Rule = ({ run }) => {
  const repeated = run.round?.repeated;
  const { nudgeAt, stopAt } = run.policy.repetition;
  let message: string | undefined;
  // Never before the model could be told: it may have said the same thing three times in one breath.
  if (repeated && repeated.count >= stopAt && repeated.before >= Math.min(nudgeAt, stopAt - 1)) {
    message = `"${repeated.name}" was called ${repeated.count} times with the same arguments and the same result.`;
  } else if (run.unknownTools >= mostUnknownTools) {
    message = `${run.unknownTools} calls in a row were to tools that do not exist.`;
  }
  return message === undefined
    ? undefined
    : note("limit", { type: "limit_reached", code: "stuck_loop", message, turns: run.turn });
};

/** What the model is told before that. */
export function repetitionNote(run: RunState): string | undefined {
  const repeated = run.round?.repeated;
  if (!repeated || repeated.count < run.policy.repetition.nudgeAt) return undefined;
  return (
    `Note: you have called "${repeated.name}" ${repeated.count} times with the same arguments and got the same result. ` +
    "Do not repeat it: change the arguments, use another tool, or answer with what you have."
  );
}
