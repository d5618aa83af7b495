// The events of a run under the names of graph tools with their own AI controller (`ai-turn-start`, …), so that a page
// that listens for those works unchanged: `?events=ai-events`.

import type { EventView, ViewEvent } from "@capstan/server";
import type { Event, Json, Result } from "capstan";
import { nextStage, type Stage } from "capstan/client";

type ToolResult = { readonly name: string; readonly success: boolean };

/**
 * `ai-stage {stage}` when the stage changes; `ai-turn-start {turnNumber, messageCount}` and
 * `ai-processing-tool-results {toolResults}` when a turn starts after tool calls; `ai-result` with the execution result
 * at the end. Nested runs are ignored.
 */
export const aiEvents: EventView = {
  description: "Stages, turns and tool results of the graph's AI controller",
  create() {
    let stage: Stage = "idle";
    let toolResults: ToolResult[] = [];
    const affected: Json[] = [];

    function project(event: Event): readonly ViewEvent[] {
      switch (event.type) {
        case "tool_call_result":
          toolResults.push({ name: event.name, success: !event.is_error });
          if (event.affected !== undefined) affected.push(event.affected);
          return [];
        case "turn_start": {
          const results = toolResults;
          toolResults = [];
          if (results.length === 0) return [];
          const { turn, messageCount } = event;
          return [
            { event: "ai-turn-start", data: { turnNumber: turn, messageCount } },
            { event: "ai-processing-tool-results", data: { toolResults: results } },
          ];
        }
        case "done":
          return [{ event: "ai-result", data: toExecutionResult({ ...event, affected }) }];
        default:
          return [];
      }
    }

    return (event) => {
      if (event.parentRunId !== undefined) return [];
      const next = nextStage(stage, event);
      const isChange = next !== stage;
      stage = next;
      return [...(isChange ? [{ event: "ai-stage", data: { stage } }] : []), ...project(event)];
    };
  },
};

export type ExecutionResult = {
  readonly success: boolean;
  readonly message: string;
  readonly llmText?: string;
  /** Without duplicates, over all commands of the run. */
  readonly affectedNodes: readonly string[];
  readonly affectedEdges: readonly string[];
};

/** The result of a run in the format of such a controller. */
export function toExecutionResult({
  status,
  text,
  affected,
}: Pick<Result, "status" | "text" | "affected">): ExecutionResult {
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
