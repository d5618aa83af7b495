import type { Json } from "../../base/json.ts";
import { foldCase, listTerms } from "../../base/terms.ts";
import type { FallbackInput } from "../../kernel/agent.ts";
import { toPlainText } from "../../kernel/history.ts";
import { createFallbackId } from "../../kernel/ids.ts";
import { breaksRuleOfTwo } from "../../kernel/provenance.ts";
import { buildRefusal, interruptedByCrash } from "../../kernel/refusal.ts";
import { buildDone, type Decision, decideFacts, type Rule, type RuleContext } from "../../kernel/rule.ts";
import type { RunState, ToolCallRecord } from "../../kernel/state.ts";
import { isRepeatable } from "../../kernel/tool.ts";
import { buildToolEffect } from "../calls/rules.ts";

/** Produces an answer after a limit: tries the policy's actions in order; best effort always succeeds. */
export const answerOnLimit: Rule = (context) => {
  const { run } = context;
  if (!run.limit) return undefined;
  const { code, message } = run.limit;
  const error = { code, message };
  for (const action of run.policy.onLimit) {
    if (action === "fail") {
      const text = code === "max_turns" ? "Maximum tool iterations reached" : message;
      return decideFacts(
        "limit-answer",
        { type: "error", code, message, retryable: false },
        buildDone(run, { status: "failed", text, error }),
      );
    }
    if (action === "fallback-tool") {
      const answer = runFallbackTool(context, message);
      if (answer.type === "run") return answer.decision;
      if (answer.type === "text")
        return decideFacts("limit-answer", buildDone(run, { status: "limit", text: answer.text, error }));
      continue;
    }
    const text = buildLimitText(action, context);
    if (text) return decideFacts("limit-answer", buildDone(run, { status: "limit", text, error }));
  }
  return decideFacts("limit-answer", buildDone(run, { status: "limit", text: buildBestEffort(run), error }));
};

function buildLimitText(action: "clarify" | "best-effort" | "last-text", { run }: RuleContext): string {
  switch (action) {
    case "clarify":
      return buildClarification(run);
    case "best-effort":
      return buildBestEffort(run);
    case "last-text":
      return run.lastText;
  }
}

const maxPreviewLength = 100;
const maxListedCalls = 50;

/** Builds the answer of a run that had to stop: why, what was found, the best answer in it, and what the user can do. */
export function buildBestEffort(run: RunState): string {
  const paragraphs = [
    `I could not finish this: ${run.limit?.message ?? "a limit was reached."}`,
    ...listToolsTried(run),
  ];
  if (run.lastText) paragraphs.push(`My last note was: ${run.lastText}`);
  const best = findBestResult(run);
  paragraphs.push(
    best === undefined
      ? "I have no results to build an answer on; please narrow the question or try again later."
      : `Based on these results, my best answer is: ${best}`,
  );
  if (best !== undefined) paragraphs.push("Ask me to go on from there, or narrow the question.");
  return paragraphs.join("\n\n");
}

const maxAnswerLength = 600;

/** Returns the start of the result that shares the most words with the question; the latest one of several. */
function findBestResult({ toolCalls, query }: RunState): string | undefined {
  const terms = listTerms(query);
  let best: { readonly text: string; readonly score: number } | undefined;
  for (const call of toolCalls) {
    const text = call.status === "ok" ? toResultLine(call) : "";
    if (text === "") continue;
    const folded = foldCase(text);
    const score = terms.filter((term) => folded.includes(term)).length;
    if (!best || score >= best.score) best = { text, score };
  }
  return best && shortenPreview(best.text, maxAnswerLength);
}

/** Returns a paragraph with one line per tool call; empty without calls. */
export function listToolsTried(run: RunState): string[] {
  const used = run.toolCalls.filter((call) => call.status === "ok" || call.status === "error");
  if (used.length === 0) return [];
  const lines = used
    .slice(0, maxListedCalls)
    .map(
      (call) => `- Used ${call.name}${call.status === "error" ? " (failed)" : ""}: ${formatPreview(call)}`,
    );
  if (used.length > maxListedCalls) lines.push(`- and ${used.length - maxListedCalls} more`);
  return [`What I found so far:\n${lines.join("\n")}`];
}

export function formatPreview(call: ToolCallRecord): string {
  return shortenPreview(toResultLine(call), maxPreviewLength);
}

function toResultLine({ result }: ToolCallRecord): string {
  return toPlainText(result).replace(/\s+/g, " ").trim();
}

function shortenPreview(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
}

/** Builds the question of a run that had to stop: why, what was tried, and what would help. */
export function buildClarification(run: RunState): string {
  const reason = run.limit?.message ?? "A limit was reached.";
  const tools = [...new Set(run.toolCalls.map((call) => call.name))];
  const tried = tools.length > 0 ? ` I tried ${tools.join(", ")}, but that did not settle it.` : "";
  return `I'm sorry, I could not find a good answer yet. ${reason}${tried} Could you tell me a little more about what you are looking for?`;
}

type FallbackAnswer =
  | { readonly type: "run"; readonly decision: Decision }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "none" };

/**
 * Runs the agent's fallback tool at most once, with the question and the calls so far. Its result is the answer. A tool
 * whose call would need approval by the gate is not run: the run ends, so an approval could not arrive.
 */
export function runFallbackTool({ agent, state, run }: RuleContext, reason: string): FallbackAnswer {
  const tool = agent.fallbackTool;
  if (!tool) return { type: "none" };
  if (run.fallback?.result) {
    const { status, result } = run.fallback.result;
    const text = toPlainText(result).trim();
    return status === "ok" && text ? { type: "text", text } : { type: "none" };
  }
  if (breaksRuleOfTwo(state.labels, tool, run.policy.gate)) return { type: "none" };
  const attempts = run.fallback?.attempt ?? 0;
  const callId = createFallbackId(run.id);
  if (attempts > 0 && !isRepeatable(tool)) {
    return {
      type: "run",
      decision: decideFacts(
        "fallback-interrupted",
        buildRefusal({ id: callId, name: tool.name }, interruptedByCrash),
      ),
    };
  }
  const tried = run.toolCalls.map((call) => ({
    tool: call.name,
    status: call.status,
    preview: formatPreview(call),
  }));
  const input: FallbackInput = { reason, query: run.query, tried };
  const call = { callId, name: tool.name, input: input as unknown as Json };
  return {
    type: "run",
    decision: {
      type: "effects",
      effects: [{ ...buildToolEffect(run, tool, call), attempt: attempts + 1, isFallback: true }],
    },
  };
}
