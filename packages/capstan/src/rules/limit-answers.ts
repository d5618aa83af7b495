import type { FallbackInput } from "../agent.ts";
import { toPlainText } from "../history.ts";
import type { Json } from "../json.ts";
import type { RunState, ToolCallRecord } from "../state/state.ts";
import { isRepeatable } from "../tool.ts";
import { refusal, unfinished } from "./refusals.ts";
import { type Decision, done, note, type Rule, type View } from "./rule.ts";
import { toolEffect } from "./tool-calls.ts";

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

const longestPreview = 100;
const mostListed = 50;

/** What a person gets when the run had to stop: why, what was found, and what they can do. */
export function bestEffort(run: RunState): string {
  const paragraphs = [
    `I could not finish this: ${run.limit?.message ?? "a limit was reached."}`,
    ...triedSoFar(run),
  ];
  if (run.lastText) paragraphs.push(`My last note was: ${run.lastText}`);
  const found = run.toolCalls.some((call) => call.status === "ok");
  paragraphs.push(
    found
      ? "The results above are what I have so far; ask me to go on from there, or narrow the question."
      : "I have no results to build an answer on; please narrow the question or try again later.",
  );
  return paragraphs.join("\n\n");
}

/** One line for each tool used; no paragraph at all when there was none. */
export function triedSoFar(run: RunState): string[] {
  const used = run.toolCalls.filter((call) => call.status === "ok" || call.status === "error");
  if (used.length === 0) return [];
  const lines = used
    .slice(0, mostListed)
    .map((call) => `- Used ${call.name}${call.status === "error" ? " (failed)" : ""}: ${preview(call)}`);
  if (used.length > mostListed) lines.push(`- and ${used.length - mostListed} more`);
  return [`What I found so far:\n${lines.join("\n")}`];
}

export function preview(call: ToolCallRecord): string {
  const text = toPlainText(call.result).replace(/\s+/g, " ").trim();
  return text.length > longestPreview ? `${text.slice(0, longestPreview).toWellFormed()}…` : text;
}

export function clarification(run: RunState): string {
  const tools = [...new Set(run.toolCalls.map((call) => call.name))];
  const tried = tools.length > 0 ? ` I tried ${tools.join(", ")}, but that did not settle it.` : "";
  return `I'm sorry, I could not find a good answer yet.${tried} Could you tell me a little more about what you are looking for?`;
}

type FallbackAnswer =
  | { readonly type: "run"; readonly decision: Decision }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "none" };

/** The agent's last resort, run at most once: it is told what was asked and what was tried, and gives the answer. */
export function fallbackTool({ agent, run }: View, reason: string): FallbackAnswer {
  const tool = agent.fallbackTool;
  if (!tool) return { type: "none" };
  if (run.fallback?.result) {
    const { status, result } = run.fallback.result;
    const text = toPlainText(result).trim();
    return status === "ok" && text ? { type: "text", text } : { type: "none" };
  }
  const begun = run.fallback?.attempt ?? 0;
  const callId = `${run.id}.fallback`;
  if (begun > 0 && !isRepeatable(tool)) {
    return {
      type: "run",
      decision: note("fallback-interrupted", refusal({ id: callId, name: tool.name }, unfinished)),
    };
  }
  const tried = run.toolCalls.map((call) => ({
    tool: call.name,
    status: call.status,
    preview: preview(call),
  }));
  const input: FallbackInput = { reason, query: run.query, tried };
  const call = { callId, name: tool.name, input: input as unknown as Json };
  return {
    type: "run",
    decision: {
      type: "effects",
      effects: [{ ...toolEffect(run, tool, call), attempt: begun + 1, isFallback: true }],
    },
  };
}
