import type { ErrorCode } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { isLastTurn } from "../../kernel/budget.ts";
import type { FactBody } from "../../kernel/event.ts";
import { getAnswerText, toPlainText } from "../../kernel/history.ts";
import {
  buildDone,
  decideFacts,
  hasActed,
  type Rule,
  type RuleContext,
  requiresTool,
} from "../../kernel/rule.ts";
import type { RunState, TurnState } from "../../kernel/state.ts";
import { buildReturn } from "../handoffs/rules.ts";
import { runFallbackTool } from "../limits/limit-answers.ts";
import { callNextModel } from "../turns/rules.ts";
import { isSupported } from "./grounding.ts";

/**
 * Accepts a message without calls as the answer, for the user or for the agent that handed off, unless the user has sent
 * a message in the meantime or a tool call is required first.
 */
export const acceptAnswer: Rule = (context) => {
  const { agent, run } = context;
  const { currentTurn } = run;
  if (!currentTurn?.message || currentTurn.calls.size > 0) return undefined;
  const text = getAnswerText(currentTurn.message);
  const { stopReason } = currentTurn;
  if (stopReason === "content_filter" || stopReason === "refusal") return failRefused(context, text);
  if (run.steering.length > 0 && !isLastTurn(run, run.turn)) return undefined;
  const skippedTool = hasSkippedRequiredTool(context);
  if (skippedTool && run.turn === 1 && !isLastTurn(run, run.turn)) {
    return callNextModel(context, {
      notes: ["Note: call a tool first. Do not answer from general knowledge."],
    });
  }
  if (agent.output && !(currentTurn.output && "value" in currentTurn.output))
    return retryInvalidOutput(context, text);
  const warnings: FactBody[] = [];
  if (skippedTool)
    warnings.push({
      type: "warning",
      code: "tool_first_ignored",
      message: "The model answered without calling a tool first.",
    });
  const cut = findCut(currentTurn);
  const frame = run.handoffs.at(-1);
  if (frame) {
    const { output: data } = pickOutput(context);
    const answer = cut ? `${text}\n\n[${cut.message}]` : text;
    const back = { ...buildReturn(context, frame, answer), ...(data !== undefined && { data }) };
    return decideFacts(`return.${run.turn}`, ...warnings, back);
  }
  if (cut) {
    const limit: FactBody = { type: "limit_reached", ...cut, turns: run.turn };
    const status = run.policy.onLimit[0] === "fail" ? "failed" : "limit";
    return decideFacts("answer", ...warnings, limit, buildDone(run, { status, text, error: cut }));
  }
  const unsupported = skippedTool || currentTurn.tools === "unavailable" || !hasSources(context, text);
  return decideFacts(
    "answer",
    ...warnings,
    buildDone(run, { status: "done", text, ...(unsupported && { grounded: false }), ...pickOutput(context) }),
  );
};

/** Says why the text of a turn is only a part of the answer; undefined if it is whole. */
function findCut({ stopReason }: TurnState): { code: ErrorCode; message: string } | undefined {
  if (stopReason === "length")
    return { code: "output_truncated", message: "The answer was cut off at the model's output limit." };
  if (stopReason === "pause" || stopReason === "other")
    return { code: "answer_incomplete", message: "The model stopped before its answer was complete." };
  return undefined;
}

function pickOutput({ run }: RuleContext): { output?: Json } {
  const output = run.currentTurn?.output;
  return output && "value" in output ? { output: output.value } : {};
}

function hasSkippedRequiredTool(context: RuleContext): boolean {
  return requiresTool(context) && !hasActed(context.run);
}

/** After a search, or with citations, an answer has to cite passages that support it. Data cites nothing. */
function hasSources({ agent, state, run }: RuleContext, text: string): boolean {
  const { hasSearched, citations, policy } = run;
  if (agent.output || policy.citations === "off" || !(hasSearched || citations.length > 0)) return true;
  return isSupported({ text, citations, fragments: state.fragments });
}

/** Requests an answer that does not match the output schema once more, then fails the run. */
function retryInvalidOutput(context: RuleContext, text: string): ReturnType<Rule> {
  const { run } = context;
  const output = run.currentTurn?.output;
  const issues = (output && "issues" in output ? output.issues : []).join("; ");
  if (run.invalidOutputs <= 1 && !isLastTurn(run, run.turn)) {
    return callNextModel(context, {
      notes: [
        `Note: your answer does not match the required schema: ${issues}. Answer again with JSON only.`,
      ],
    });
  }
  const error = {
    code: "output_invalid",
    message: `The answer does not match the required schema: ${issues}.`,
    retryable: false,
  };
  return decideFacts(
    "answer",
    { type: "error", ...error },
    buildDone(run, { status: "failed", text, error }),
  );
}

/** Fails a run whose answer was filtered by the provider or refused by the model, depending on `stopReason`. */
function failRefused({ run }: RuleContext, text: string): ReturnType<Rule> {
  const isRefusal = run.currentTurn?.stopReason === "refusal";
  const message = isRefusal
    ? "The model refused to answer."
    : "The provider's content filter stopped the answer.";
  const error = { code: "content_filter", message, retryable: false };
  const answer = text || `The model declined to answer: ${message}`;
  return decideFacts(
    "answer",
    { type: "error", ...error },
    buildDone(run, { status: "failed", text: answer, error }),
  );
}

/** When every call of the turn failed, lets the model answer without tools or runs the fallback tool, as the policy says. */
export const answerWhenToolsFailed: Rule = (context) => {
  const { run } = context;
  if (!run.currentTurn || !haveAllCallsFailed(run)) return undefined;
  switch (run.policy.onAllToolsFailed) {
    case "continue":
      return undefined;
    case "answer-from-knowledge":
      return isLastTurn(run, run.turn)
        ? undefined
        : callNextModel(context, { tools: "unavailable", notes: [buildFailureNote(run)] });
    case "fallback-tool": {
      const answer = runFallbackTool(context, "All tool calls of a turn failed.");
      if (answer.type === "run") return answer.decision;
      return answer.type === "text"
        ? decideFacts("fallback", buildDone(run, { status: "done", text: answer.text, grounded: false }))
        : undefined;
    }
  }
};

function haveAllCallsFailed(run: RunState): boolean {
  const calls = run.currentTurn?.calls;
  if (!calls || calls.size === 0) return false;
  for (const call of calls.values()) if (call.result?.status !== "error") return false;
  return true;
}

function buildFailureNote(run: RunState): string {
  const failures = [...(run.currentTurn?.calls.values() ?? [])].map(
    ({ part, result }) => `- ${part.name}: ${toPlainText(result?.content ?? "").slice(0, 200)}`,
  );
  return `All tools have failed:\n${failures.join("\n")}\nAnswer from what you know, and say that you could not look it up.`;
}
