import { plainText } from "../history.ts";
import type { RunState } from "../state.ts";
import { fallbackTool } from "./fallback-tool.ts";
import { nextModelCall } from "./next-turn.ts";
import { done, note, type Rule } from "./rule.ts";
import { isLastTurn } from "./wrap-up.ts";

/** Every call of the turn failed: by policy the model answers from what it knows, or the fallback tool answers. */
export const allToolsFailed: Rule = (view) => {
  const { run } = view;
  if (!run.round || !everyCallFailed(run)) return undefined;
  switch (run.policy.onAllToolsFailed) {
    case "continue":
      return undefined;
    case "answer-from-knowledge":
      return isLastTurn(run, run.turn)
        ? undefined
        : nextModelCall(view, { tools: "unavailable", notes: [failureNote(run)] });
    case "fallback-tool": {
      const answer = fallbackTool(view, "All tool calls of a turn failed.");
      if (answer.type === "run") return answer.decision;
      return answer.type === "text"
        ? note("fallback", done(run, { status: "done", text: answer.text, grounded: false }))
        : undefined;
    }
  }
};

function everyCallFailed(run: RunState): boolean {
  const calls = run.round?.calls;
  if (!calls || calls.size === 0) return false;
  for (const call of calls.values()) if (call.result?.status !== "error") return false;
  return true;
}

function failureNote(run: RunState): string {
  const failures = [...(run.round?.calls.values() ?? [])].map(
    ({ part, result }) => `- ${part.name}: ${plainText(result?.content ?? "").slice(0, 200)}`,
  );
  return `All tools have failed:\n${failures.join("\n")}\nAnswer from what you know, and say that you could not look it up.`;
}
