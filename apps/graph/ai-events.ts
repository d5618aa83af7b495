// The event names of graph tools that have an AI controller of their own, as a projection of this library's events: a
// page that listens for `ai-*` can be put on top of it.

import type { Event, Json, Result } from "capstan";
import { nextStage, type Stage } from "capstan/client";

export type AiEvent =
  /** A turn begins that follows tools. */
  | { readonly type: "ai-turn-start"; readonly turnNumber: number; readonly messageCount: number }
  /** The model digests what the tools gave. */
  | {
      readonly type: "ai-processing-tool-results";
      readonly toolResults: readonly { readonly name: string; readonly success: boolean }[];
    }
  | { readonly type: "ai-stage"; readonly stage: Stage };

type ToolResult = { readonly name: string; readonly success: boolean };

/** What must be remembered from one event to the next. */
export type AiState = { readonly stage: Stage; readonly toolResults: readonly ToolResult[] };

export const idleAi: AiState = { stage: "idle", toolResults: [] };

/** One event further: the new state, and what a listener is told. Events of agents that are tools are not told. */
export function nextAiEvents(
  state: AiState,
  event: Event,
): { readonly state: AiState; readonly events: AiEvent[] } {
  if (event.parentRunId !== undefined) return { state, events: [] };
  const stage = nextStage(state.stage, event);
  const events: AiEvent[] = stage === state.stage ? [] : [{ type: "ai-stage", stage }];
  if (event.type === "run_start") return { state: { ...idleAi, stage }, events };
  if (event.type === "tool_call_result") {
    const result = { name: event.name, success: !event.is_error };
    return { state: { stage, toolResults: [...state.toolResults, result] }, events };
  }
  if (event.type !== "turn_start") return { state: { ...state, stage }, events };
  const { toolResults } = state;
  if (toolResults.length > 0) {
    events.push({ type: "ai-turn-start", turnNumber: event.turn, messageCount: event.messageCount });
    events.push({ type: "ai-processing-tool-results", toolResults });
  }
  return { state: { stage, toolResults: [] }, events };
}

/** All of a run, or of a session. */
export function aiEvents(events: Iterable<Event>): AiEvent[] {
  let state = idleAi;
  const told: AiEvent[] = [];
  for (const event of events) {
    const next = nextAiEvents(state, event);
    state = next.state;
    told.push(...next.events);
  }
  return told;
}

export type ExecutionResult = {
  readonly success: boolean;
  readonly message: string;
  readonly llmText?: string;
  /** Each once, over all commands of the run. */
  readonly affectedNodes: readonly string[];
  readonly affectedEdges: readonly string[];
};

/** The end of a run as such a controller reports it. */
export function executionResult({ status, text, affected }: Result): ExecutionResult {
  const isDone = status === "done";
  return {
    success: isDone,
    message: text || "No response",
    ...(isDone && { llmText: text }),
    affectedNodes: idsIn(affected, "nodes"),
    affectedEdges: idsIn(affected, "edges"),
  };
}

function idsIn(affected: readonly Json[], kind: "nodes" | "edges"): string[] {
  const ids = affected.flatMap((change) => {
    const list: unknown =
      change !== null && typeof change === "object" ? Reflect.get(change, kind) : undefined;
    return Array.isArray(list) ? list.map(String) : [];
  });
  return [...new Set(ids)];
}
