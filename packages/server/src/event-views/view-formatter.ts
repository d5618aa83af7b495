// The `id` of a frame tells where its reader stands: `12` after fact 12, `12-57` after 57 characters of the message
// that follows it, `12-57-1` after the first frame of the next fact. A reader that comes back with it gets every frame
// once: the view is fed from the first event of the run, and frames up to this position are skipped. Frames of other
// deltas than text have no id: they may come again, because deltas are not stored.

import { type Event, getText, isFact } from "capstan";
import { restartsMessage } from "capstan/client";
import type { EventView, ViewEvent } from "./event-view.ts";

/** The last fact, then characters of the current message's text, then frames of the next fact. */
export type ViewPosition = { readonly seq: number; readonly characters: number; readonly frames: number };

/** Parses the `id` of a frame, which `dispatch` has checked; otherwise the position after a fact. */
export function parseViewPosition(id: string | null, after: number): ViewPosition {
  const [seq = after, characters = 0, frames = 0] = id ? id.split("-").map(Number) : [];
  return { seq, characters, frames };
}

export type ViewFormatterOptions = {
  readonly view: EventView;
  /** Frames up to here are skipped. */
  readonly after?: ViewPosition;
  /** Omit ids where a reader cannot come back. */
  readonly withIds?: boolean;
};

const start: ViewPosition = { seq: 0, characters: 0, frames: 0 };

/** Creates a function that formats the events of a run, or of a session run by run, as frames of a view. */
export function createViewFormatter({
  view,
  after = start,
  withIds = true,
}: ViewFormatterOptions): (event: Event) => string {
  let project = view.create();
  let seq = 0;
  /** Length of the current message's text. */
  let characters = 0;
  let { characters: knownCharacters, frames: knownFrames } = after;

  const isBehind = (event: Event): boolean => isFact(event) && event.seq <= after.seq;

  function feed(event: Event): readonly ViewEvent[] {
    const isNested = event.parentRunId !== undefined;
    if (event.type === "run_start" && !isNested) project = view.create();
    const events = project(event);
    if (isNested) return events;
    if (event.type === "content_delta") characters += event.delta.length;
    else if (event.type === "message_partial") characters = Math.max(characters, getText(event.entry).length);
    else if (event.type === "message" || event.type === "done" || restartsMessage(event)) {
      characters = 0;
      if (!isBehind(event)) knownCharacters = 0;
    }
    return events;
  }

  /** Feeds the text that the reader already has. Returns the rest of the event. */
  function feedKnownText(event: Event): Event | undefined {
    const isMessage = event.type === "message" || event.type === "message_partial";
    if (event.parentRunId !== undefined || (event.type !== "content_delta" && !isMessage)) return event;
    const missing = knownCharacters - characters;
    if (missing <= 0) return event;
    const { runId, sessionId, agent, turn } = event;
    const text = isMessage ? getText(event.entry).slice(characters) : event.delta;
    feed({ type: "content_delta", delta: text.slice(0, missing), runId, sessionId, agent, turn });
    if (isMessage) return event;
    return text.length > missing ? { ...event, delta: text.slice(missing) } : undefined;
  }

  function formatDelta(event: Event): string {
    const events = feed(event);
    const last = event.type === "content_delta" ? events.length - 1 : -1;
    return joinFrames(events, (index) => (index === last ? [seq, characters] : undefined));
  }

  function formatFact(event: Event & { readonly seq: number }): string {
    const before = [seq, characters];
    const events = feed(event);
    seq = event.seq;
    const frames = joinFrames(events.slice(knownFrames), (index) =>
      knownFrames + index === events.length - 1 ? [seq, characters] : [...before, knownFrames + index + 1],
    );
    knownFrames = 0;
    return frames;
  }

  function joinFrames(
    events: readonly ViewEvent[],
    getId: (index: number) => readonly number[] | undefined,
  ): string {
    return events.map((event, index) => formatFrame(event, withIds ? getId(index) : undefined)).join("");
  }

  return (event) => {
    if (isFact(event) && isBehind(event)) {
      feed(event);
      seq = event.seq;
      return "";
    }
    const rest = feedKnownText(event);
    if (!rest) return "";
    return isFact(rest) ? formatFact(rest) : formatDelta(rest);
  };
}

function formatFrame({ event, data }: ViewEvent, id?: readonly number[]): string {
  const frame = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  if (!id) return frame;
  const last = id.findLastIndex((part) => part > 0);
  return `id: ${id.slice(0, last + 1).join("-") || "0"}\n${frame}`;
}
