import type { FactBody } from "../event.ts";
import { getText, toPlainText } from "../history.ts";
import type { Json } from "../json.ts";
import type { RunState } from "../state/state.ts";
import { returnTo } from "./handoffs.ts";
import { fallbackTool } from "./limit-answers.ts";
import { isLastTurn } from "./limits.ts";
import { done, hasActed, note, type Rule, type View } from "./rule.ts";
import { nextModelCall } from "./turns.ts";

/** Words without calls are the answer, to a person or to the agent that handed over, unless a person has said something meanwhile or a tool was demanded first. */
export const answer: Rule = (view) => {
  const { agent, run } = view;
  const { round } = run;
  if (!round?.message || round.calls.size > 0) return undefined;
  const text = getText(round.message).trim();
  if (round.finish === "content_filter") return filtered(view, text);
  if (run.steering.length > 0 && !isLastTurn(run, run.turn)) return undefined;
  const evaded = evadedTools(view);
  if (evaded && run.turn === 1 && !isLastTurn(run, run.turn)) {
    return nextModelCall(view, { notes: ["Note: call a tool first. Do not answer from general knowledge."] });
  }
  if (agent.output && !(round.output && "value" in round.output)) return formless(view, text);
  const warnings: FactBody[] = [];
  if (evaded)
    warnings.push({
      type: "warning",
      code: "tool_first_ignored",
      message: "The model answered without calling a tool first.",
    });
  if (round.finish === "length")
    warnings.push({
      type: "warning",
      code: "truncated",
      message: "The answer was cut off at the model's output limit.",
    });
  const frame = run.handoffs.at(-1);
  if (frame) {
    const { output: data } = outputOf(view);
    const back = { ...returnTo(view, frame, text), ...(data !== undefined && { data }) };
    return note(`return.${run.turn}`, ...warnings, back);
  }
  const unsupported = evaded || round.tools === "unavailable";
  return note(
    "answer",
    ...warnings,
    done(run, { status: "done", text, ...(unsupported && { grounded: false }), ...outputOf(view) }),
  );
};

function outputOf({ run }: View): { output?: Json } {
  const output = run.round?.output;
  return output && "value" in output ? { output: output.value } : {};
}

function evadedTools({ agent, run }: View): boolean {
  return run.policy.requireToolFirst && agent.tools.size > 0 && !hasActed(run);
}

/** An answer without the form it must have is asked for once more, and then is a failure. */
function formless(view: View, text: string): ReturnType<Rule> {
  const { run } = view;
  const output = run.round?.output;
  const issues = (output && "issues" in output ? output.issues : []).join("; ");
  if (run.formless <= 1 && !isLastTurn(run, run.turn)) {
    return nextModelCall(view, {
      notes: [
        `Note: your answer does not have the form it must have: ${issues}. Give it again, as JSON only.`,
      ],
    });
  }
  const error = {
    code: "output_invalid",
    message: `The answer does not have the form it must have: ${issues}.`,
    retryable: false,
  };
  return note("answer", { type: "error", ...error }, done(run, { status: "failed", text, error }));
}

function filtered({ run }: View, text: string): ReturnType<Rule> {
  const error = {
    code: "content_filter",
    message: "The provider's content filter stopped the answer.",
    retryable: false,
  };
  const told = text || "The model declined to answer: the provider's content filter stopped it.";
  return note("answer", { type: "error", ...error }, done(run, { status: "failed", text: told, error }));
}

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
    ({ part, result }) => `- ${part.name}: ${toPlainText(result?.content ?? "").slice(0, 200)}`,
  );
  return `All tools have failed:\n${failures.join("\n")}\nAnswer from what you know, and say that you could not look it up.`;
}
