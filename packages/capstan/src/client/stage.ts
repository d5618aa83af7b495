import type { Event } from "../event.ts";

/** Where a run is, in the words a person would use. */
export type Stage = "idle" | "submitted" | "streaming" | "executing" | "processing" | "complete" | "error";

/** The stage after these events. */
export function stageOf(events: Iterable<Event>): Stage {
  let stage: Stage = "idle";
  for (const event of events) stage = nextStage(stage, event);
  return stage;
}

const stages: { readonly [Type in Event["type"]]?: Stage } = {
  run_start: "submitted",
  content_delta: "streaming",
  reasoning_delta: "streaming",
  tool_call_delta: "streaming",
  message: "streaming",
  tool_call_start: "executing",
};

/** One event further. `processing`: the model digests what the tools gave it and has not begun to speak. */
export function nextStage(stage: Stage, event: Event): Stage {
  if (event.parentRunId !== undefined) return stage; // of a nested run: the call it answers is still on
  if (event.type === "turn_start") return event.turn === 1 ? "submitted" : "processing";
  if (event.type === "done") return event.status === "failed" ? "error" : "complete";
  return stages[event.type] ?? stage;
}
