import type { Event } from "../kernel/event.ts";

/** `all`: every delta. `per-turn`: the text of a turn at once. `final`: only the text of the answer. */
export type StreamMode = "all" | "per-turn" | "final";

/** Reduces the text deltas of a stream to the mode. Facts always pass. */
export async function* streamView(events: AsyncIterable<Event>, mode: StreamMode): AsyncGenerator<Event> {
  for await (const event of events) yield* filterEvent(event, mode);
}

/** Returns the events to emit for one event in a mode. */
export function filterEvent(event: Event, mode: StreamMode): readonly Event[] {
  if (mode === "all") return [event];
  if (event.type === "content_delta" || event.type === "message_restart") return [];
  if (event.type !== "message" || event.parentRunId !== undefined) return [event];
  const { entry, runId, sessionId, agent, turn } = event;
  const isAnswer = !entry.parts.some((part) => part.type === "call");
  const delta = entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (!delta || !(isAnswer || mode === "per-turn")) return [event];
  return [{ type: "content_delta", delta, runId, sessionId, agent, turn }, event];
}
