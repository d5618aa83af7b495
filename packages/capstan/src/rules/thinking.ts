import type { RunState } from "../state.ts";

const deliberate =
  /\b(analy[sz]e|compare|evaluate|explain why|prove|reason|step[- ]by[- ]step|think (hard|carefully)|trade-?offs?)\b/i;

/** Under `auto` the model thinks when the question asks for deliberation, or when a tool has just failed it. */
export function wantsThinking(run: RunState): boolean {
  if (run.policy.thinking !== "auto") return run.policy.thinking === "on";
  return deliberate.test(run.query.slice(0, 2000)) || run.toolCalls.at(-1)?.status === "error";
}
