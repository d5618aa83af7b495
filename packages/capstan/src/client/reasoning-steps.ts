import type { Event } from "../kernel/event.ts";
import { type AssistantPart, toPlainText } from "../kernel/history.ts";

/** A human-readable step of a run: an action or a reason. Never sent to a model. */
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
  /** Turn number, starting at 1. */
  readonly iteration: number;
  readonly agent: string;
  /** One line or a longer text. */
  readonly details?: string;
  /** One-line summary. */
  readonly summary?: string;
  /** Set for tool steps. */
  readonly callId?: string;
  /** Summary of the turn, written by a model. */
  readonly aiGenerated?: true;
};

/** Lists the steps of live or stored events. Deltas add none. */
export function reasoningSteps(events: Iterable<Event>): ReasoningStep[] {
  const steps: ReasoningStep[] = [];
  for (const event of events) steps.push(...getReasoningSteps(event));
  return steps;
}

/** Returns the steps that one event adds. */
export function getReasoningSteps(event: Event): readonly ReasoningStep[] {
  const { agent, turn: iteration } = event;
  const createStep = (type: ReasoningStep["type"], about: Partial<ReasoningStep>): ReasoningStep[] => [
    { type, iteration, agent, ...about },
  ];
  switch (event.type) {
    case "turn_start": {
      const limit = event.maxTurns === "unlimited" ? "" : ` of ${event.maxTurns}`;
      return createStep("iteration", { summary: `Turn ${event.turn}${limit}` });
    }
    case "message":
      return classifyParts(event.entry.parts).flatMap(([type, details]) => createStep(type, { details }));
    case "tool_call_start": {
      const attemptNote = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
      const about = { callId: event.id, details: JSON.stringify(event.arguments) };
      return createStep("tool-executing", { ...about, summary: `${event.name}${attemptNote}` });
    }
    case "tool_call_result": {
      const { id: callId, name, status, result, message, error } = event;
      const summary = `${name}: ${error?.message ?? message ?? status}`;
      return createStep("tool-result", {
        callId,
        details: toPlainText(result),
        summary: formatLine(summary),
      });
    }
    case "approval_required":
      return createStep("waiting", { callId: event.callId, summary: formatLine(event.reason) });
    case "turn_summary":
      return event.text ? createStep("iteration", { summary: event.text, aiGenerated: true }) : [];
    case "model_failed":
      return createStep("trouble", { summary: formatLine(`${event.model}: ${event.error.message}`) });
    case "warning":
      return createStep("trouble", { summary: formatLine(event.message) });
    case "limit_reached":
      return createStep("limit", { summary: formatLine(event.message) });
    default:
      return [];
  }
}

/** Text next to calls is a note; text without calls is the answer. */
function classifyParts(parts: readonly AssistantPart[]): (readonly [ReasoningStep["type"], string])[] {
  const textType = parts.some(({ type }) => type === "call") ? "note" : "synthesis";
  return parts.flatMap((part) => {
    if (part.type !== "text" && part.type !== "reasoning") return [];
    const text = part.text.trim();
    return text === "" ? [] : [[part.type === "text" ? textType : "thinking", text] as const];
  });
}

const maxLineLength = 200;

function formatLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength - 1).toWellFormed()}…` : line;
}
