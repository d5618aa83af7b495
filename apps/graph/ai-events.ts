// Projects Capstan's events to the `ai-*` events of graph tools with their own AI controller, so that a page that listens
// for those works unchanged.

import type { Event, Json, Result } from "capstan";
import { nextStage, type Stage } from "capstan/client";

export type AiEvent =
  /** A turn starts after tool calls. */
  | { readonly type: "ai-turn-start"; readonly turnNumber: number; readonly messageCount: number }
  /** The model processes the tool results. */
  | {
      readonly type: "ai-processing-tool-results";
      readonly toolResults: readonly { readonly name: string; readonly success: boolean }[];
    }
  | { readonly type: "ai-stage"; readonly stage: Stage };

type ToolResult = { readonly name: string; readonly success: boolean };

/** State carried from one event to the next. */
export type AiState = { readonly stage: Stage; readonly toolResults: readonly ToolResult[] };

export const initialAiState: AiState = { stage: "idle", toolResults: [] };

/** Returns the next state and the events to emit. Events of nested runs are ignored. */
export function projectEvent(
  state: AiState,
  event: Event,
): { readonly state: AiState; readonly events: AiEvent[] } {
  if (event.parentRunId !== undefined) return { state, events: [] };
  const stage = nextStage(state.stage, event);
  const events: AiEvent[] = stage === state.stage ? [] : [{ type: "ai-stage", stage }];
  if (event.type === "run_start") return { state: { ...initialAiState, stage }, events };
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

/** Projects all events of a run or a session. */
export function toAiEvents(events: Iterable<Event>): AiEvent[] {
  let state = initialAiState;
  const aiEvents: AiEvent[] = [];
  for (const event of events) {
    const next = projectEvent(state, event);
    state = next.state;
    aiEvents.push(...next.events);
  }
  return aiEvents;
}

export type ExecutionResult = {
  readonly success: boolean;
  readonly message: string;
  readonly llmText?: string;
  /** Without duplicates, over all commands of the run. */
  readonly affectedNodes: readonly string[];
  readonly affectedEdges: readonly string[];
};

/** The result of a run in the format of such a controller. */
export function toExecutionResult({ status, text, affected }: Result): ExecutionResult {
  const isDone = status === "done";
  return {
    success: isDone,
    message: text || "No response",
    ...(isDone && { llmText: text }),
    affectedNodes: collectIds(affected, "nodes"),
    affectedEdges: collectIds(affected, "edges"),
  };
}

function collectIds(affected: readonly Json[], kind: "nodes" | "edges"): string[] {
  const ids = affected.flatMap((change) => {
    const list: unknown =
      change !== null && typeof change === "object" ? Reflect.get(change, kind) : undefined;
    return Array.isArray(list) ? list.map(String) : [];
  });
  return [...new Set(ids)];
}
