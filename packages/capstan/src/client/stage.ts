import type { Event } from "../event.ts";

/** Where a run is, in the words a person would use. */
export type Stage = "idle" | "submitted" | "streaming" | "executing" | "processing" | "complete" | "error";

/** The stage after these events. */
export function stageOf(events: Iterable<Event>): Stage {
  let stage: Stage = "idle";
  for (const event of events) stage = nextStage(stage, event);
  return stage;
}

/** One event further. `processing`: the model digests what the tools gave it and has not begun to speak. */
export function nextStage(stage: Stage, event: Event): Stage {
  switch (event.type) {
    case "run_start":
      return "submitted";
    case "turn_start":
      return event.turn === 1 ? "submitted" : "processing";
    case "content_delta":
    case "reasoning_delta":
    case "tool_call_delta":
    case "message":
      return "streaming";
    case "tool_call_start":
      return "executing";
    case "done":
      return event.status === "failed" ? "error" : "complete";
    default:
      return stage;
  }
}
