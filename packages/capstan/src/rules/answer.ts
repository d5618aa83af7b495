import type { FactBody } from "../event.ts";
import { textOf } from "../history.ts";
import type { Json } from "../json.ts";
import { returnTo } from "./handoffs.ts";
import { nextModelCall } from "./next-turn.ts";
import { done, hasActed, note, type Rule, type View } from "./rule.ts";
import { isLastTurn } from "./wrap-up.ts";

/** Words without calls are the answer, to a person or to the agent that handed over, unless a person has said something meanwhile or a tool was demanded first. */
export const answer: Rule = (view) => {
  const { agent, run } = view;
  const { round } = run;
  if (!round?.message || round.calls.size > 0) return undefined;
  const text = textOf(round.message).trim();
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
