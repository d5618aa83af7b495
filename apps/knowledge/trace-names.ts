import type { EventView } from "@capstan/server";
import { type Event, getText, type Json } from "capstan";
import { getReasoningSteps, type ReasoningStep as Step } from "capstan/client";

/** The events of a run under the names that enterprise search dashboards use, in order. */
type TraceEvent =
  | { readonly type: "run_start"; readonly runId: string }
  | { readonly type: "turn_start"; readonly turn: number; readonly agentName: string }
  | {
      readonly type: "llm_call_end";
      readonly agentName: string;
      readonly model: string;
      readonly content: string;
      readonly toolCalls: readonly string[];
    }
  | { readonly type: "tool_call_start"; readonly toolName: string; readonly args: Json }
  | { readonly type: "tool_call_end"; readonly toolName: string; readonly status: string }
  | { readonly type: "handoff"; readonly from: string; readonly to: string }
  | { readonly type: "handoff_denied"; readonly to: string; readonly reason: string }
  | { readonly type: "turn_end"; readonly turn: number; readonly agentName: string }
  | { readonly type: "error"; readonly name: string; readonly message: string }
  | { readonly type: "run_end"; readonly status: string };

/** Maps an event to one trace event or none. Deltas map to none. */
function toTraceEvents(event: Event): readonly TraceEvent[] {
  const { agent: agentName, turn } = event;
  switch (event.type) {
    case "run_start":
      return [{ type: "run_start", runId: event.runId }];
    case "turn_start":
      return [{ type: "turn_start", turn, agentName }];
    case "message": {
      const { entry, model } = event;
      const toolCalls = entry.parts.flatMap((part) => (part.type === "call" ? [part.name] : []));
      return [{ type: "llm_call_end", agentName, model, content: getText(entry), toolCalls }];
    }
    case "tool_call_start":
      return [{ type: "tool_call_start", toolName: event.name, args: event.arguments }];
    case "tool_call_result":
      return [{ type: "tool_call_end", toolName: event.name, status: event.status }];
    case "handoff":
    case "handoff_return":
      return [{ type: "handoff", from: event.from, to: event.to }];
    case "handoff_denied":
      return [{ type: "handoff_denied", to: event.to, reason: event.reason }];
    case "turn_end":
      return [{ type: "turn_end", turn, agentName }];
    case "limit_reached":
      return [{ type: "error", name: toLimitName(event.code), message: event.message }];
    case "error":
      return [{ type: "error", name: event.code, message: event.message }];
    case "done":
      return [{ type: "run_end", status: event.status }];
    default:
      return [];
  }
}

/** The trace as a view: `?events=trace`. */
export const trace: EventView = {
  description: "Turns, model calls, tool calls and handoffs under the names of enterprise search",
  create: () => (event) => toTraceEvents(event).map(({ type, ...data }) => ({ event: type, data })),
};

const toLimitName = (code: string): string => (code === "max_turns" ? "MaxTurnsExceeded" : code);

/** A reasoning step in the format of such dashboards, for display only. */
type AgentReasoningStep = {
  readonly type: StepType;
  readonly iteration: number;
  readonly details?: string;
  readonly stepSummary?: string;
  readonly aiGeneratedSummary?: string;
};

type StepType =
  | "Iteration"
  | "Thinking"
  | "Note"
  | "ToolExecuting"
  | "ToolResult"
  | "Synthesis"
  | "Waiting"
  | "Error"
  | "MaxTurns";

const stepTypes: { readonly [type in Step["type"]]: StepType } = {
  iteration: "Iteration",
  thinking: "Thinking",
  note: "Note",
  "tool-executing": "ToolExecuting",
  "tool-result": "ToolResult",
  synthesis: "Synthesis",
  waiting: "Waiting",
  trouble: "Error",
  limit: "MaxTurns",
};

function toReasoningStep({ type, iteration, details, summary, aiGenerated }: Step): AgentReasoningStep {
  return {
    type: stepTypes[type],
    iteration,
    ...(details !== undefined && { details }),
    ...(summary !== undefined && { [aiGenerated ? "aiGeneratedSummary" : "stepSummary"]: summary }),
  };
}

/** The reasoning steps as a view: `?events=reasoning-steps`. */
export const reasoningSteps: EventView = {
  description: "What the agent did, step by step, with a summary of each turn",
  create: () => (event) =>
    getReasoningSteps(event).map((step) => ({ event: "reasoning_step", data: toReasoningStep(step) })),
};
