import type { Event } from "../event.ts";

/** `all`: everything as it comes. `per-turn`: a turn's text at once. `final`: only the text of the answer. */
export type StreamMode = "all" | "per-turn" | "final";

/** The same events for a viewer that wants less of the text while it is being written. Facts always pass. */
export async function* streamView(events: AsyncIterable<Event>, mode: StreamMode): AsyncGenerator<Event> {
  for await (const event of events) yield* filterEvent(event, mode);
}

/** What a viewer is shown for one event. */
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
