import { fallbackTool } from "./fallback-tool.ts";
import { bestEffort, clarification } from "./limit-texts.ts";
import { done, note, type Rule, type View } from "./rule.ts";

/** A limit never ends in silence: the policy's answers are tried in order, and the best effort always works. */
export const onLimit: Rule = (view) => {
  const { run } = view;
  if (!run.limit) return undefined;
  const { code, message } = run.limit;
  const error = { code, message };
  for (const choice of run.policy.onLimit) {
    if (choice === "fail") {
      const text = code === "max_turns" ? "Maximum tool iterations reached" : message;
      return note(
        "limit-answer",
        { type: "error", code, message, retryable: false },
        done(run, { status: "failed", text, error }),
      );
    }
    if (choice === "fallback-tool") {
      const answer = fallbackTool(view, message);
      if (answer.type === "run") return answer.decision;
      if (answer.type === "text")
        return note("limit-answer", done(run, { status: "limit", text: answer.text, error }));
      continue;
    }
    const text = textFor(choice, view);
    if (text) return note("limit-answer", done(run, { status: "limit", text, error }));
  }
  return note("limit-answer", done(run, { status: "limit", text: bestEffort(run), error }));
};

function textFor(choice: "clarify" | "best-effort" | "last-text", { run }: View): string {
  switch (choice) {
    case "clarify":
      return clarification(run);
    case "best-effort":
      return bestEffort(run);
    case "last-text":
      return run.lastText;
  }
}
