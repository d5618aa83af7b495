import type { Event } from "../event.ts";
import { type AssistantPart, toPlainText } from "../history.ts";

/** What was done and why, for people to read. It drives nothing and never goes back to a model. */
export type ReasoningStep = {
  readonly type:
    | "iteration"
    | "thinking"
    | "note"
    | "tool-executing"
    | "tool-result"
    | "synthesis"
    | "waiting"
    | "trouble"
    | "limit";
  /** The turn, from 1. */
  readonly iteration: number;
  readonly agent: string;
  /** What happened, in a line or a text. */
  readonly details?: string;
  /** What it comes to, in one line. */
  readonly summary?: string;
  /** Of a tool. */
  readonly callId?: string;
  /** What was done in the turn, in the words of a model. */
  readonly aiGenerated?: true;
};

/** The steps of these events, live or stored: deltas add none. */
export function reasoningSteps(events: Iterable<Event>): ReasoningStep[] {
  const steps: ReasoningStep[] = [];
  for (const event of events) steps.push(...getReasoningSteps(event));
  return steps;
}

/** The steps that one more event adds. */
export function getReasoningSteps(event: Event): readonly ReasoningStep[] {
  const { agent, turn: iteration } = event;
  const step = (type: ReasoningStep["type"], about: Partial<ReasoningStep>): ReasoningStep[] => [
    { type, iteration, agent, ...about },
  ];
  switch (event.type) {
    case "turn_start": {
      const most = event.maxTurns === "unlimited" ? "" : ` of ${event.maxTurns}`;
      return step("iteration", { summary: `Turn ${event.turn}${most}` });
    }
    case "message":
      return said(event.entry.parts).flatMap(([type, details]) => step(type, { details }));
    case "tool_call_start": {
      const again = event.attempt > 1 ? ` (begun again, ${event.attempt})` : "";
      const about = { callId: event.id, details: JSON.stringify(event.arguments) };
      return step("tool-executing", { ...about, summary: `${event.name}${again}` });
    }
    case "tool_call_result": {
      const { id: callId, name, status, result, message, error } = event;
      const summary = `${name}: ${error?.message ?? message ?? status}`;
      return step("tool-result", { callId, details: toPlainText(result), summary: inOneLine(summary) });
    }
    case "approval_required":
      return step("waiting", { callId: event.callId, summary: inOneLine(event.reason) });
    case "turn_summary":
      return event.text ? step("iteration", { summary: event.text, aiGenerated: true }) : [];
    case "model_failed":
      return step("trouble", { summary: inOneLine(`${event.model}: ${event.error.message}`) });
    case "warning":
      return step("trouble", { summary: inOneLine(event.message) });
    case "limit_reached":
      return step("limit", { summary: inOneLine(event.message) });
    default:
      return [];
  }
}

/** Words beside calls are a note on the way; words without calls are the answer. */
function said(parts: readonly AssistantPart[]): (readonly [ReasoningStep["type"], string])[] {
  const textType = parts.some(({ type }) => type === "call") ? "note" : "synthesis";
  return parts.flatMap((part) => {
    if (part.type !== "text" && part.type !== "reasoning") return [];
    const text = part.text.trim();
    return text === "" ? [] : [[part.type === "text" ? textType : "thinking", text] as const];
  });
}

const longestLine = 200;

function inOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > longestLine ? `${line.slice(0, longestLine - 1).toWellFormed()}…` : line;
}
