import type { Event } from "../kernel/event.ts";

/** Progress of a run, as shown to users. */
export type Stage = "idle" | "submitted" | "streaming" | "executing" | "processing" | "complete" | "error";

/** Returns the stage after these events. */
export function stageOf(events: Iterable<Event>): Stage {
  let stage: Stage = "idle";
  for (const event of events) stage = nextStage(stage, event);
  return stage;
}

const stages: { readonly [Type in Event["type"]]?: Stage } = {
  run_start: "submitted",
  retried: "processing",
  content_delta: "streaming",
  reasoning_delta: "streaming",
  tool_call_delta: "streaming",
  message: "streaming",
  tool_call_start: "executing",
};

/** Returns the stage after one more event. `processing`: the model has the tool results and has not produced output yet. */
export function nextStage(stage: Stage, event: Event): Stage {
  if (event.parentRunId !== undefined) return stage; // nested run: the outer call is still running
  if (event.type === "turn_start") return event.turn === 1 ? "submitted" : "processing";
  if (event.type === "done") return event.status === "failed" ? "error" : "complete";
  return stages[event.type] ?? stage;
}
