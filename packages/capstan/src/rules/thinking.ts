import { plainText } from "../history.ts";
import type { RunState } from "../state.ts";

const deliberate =
  /\b(analy[sz]e|compare|evaluate|explain why|prove|reason|step[- ]by[- ]step|think (hard|carefully)|trade-?offs?)\b/i;
const mostRead = 2000;

/**
 * Under `auto` the model thinks when the question asks for deliberation, when somebody has just added something that does,
 * when a call of the last turn failed, and when it goes round in circles.
 */
export function wantsThinking(run: RunState): boolean {
  if (run.policy.thinking !== "auto") return run.policy.thinking === "on";
  if (isDeliberate(run.query)) return true;
  if (run.steering.some(({ content }) => isDeliberate(plainText(content)))) return true;
  return hasTrouble(run);
}

function isDeliberate(text: string): boolean {
  return deliberate.test(text.slice(0, mostRead));
}

function hasTrouble({ round, policy }: RunState): boolean {
  if (!round) return false;
  if (round.repeated && round.repeated.count >= policy.repetition.nudgeAt) return true;
  for (const { result } of round.calls.values()) if (result?.status === "error") return true;
  return false;
}
