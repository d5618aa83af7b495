import type { Json } from "../base/json.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import { type FollowOptions, followStream, type StreamSource } from "./follow-stream.ts";
import { trackPosition } from "./track-position.ts";

/** The events of a run or a session. */
export type EventStreamSource = StreamSource & {
  /** Returns true for the last fact of the stream. */
  isLastFact(fact: Fact): boolean | Promise<boolean>;
  /** Called when the stream after a position was closed twice without an event. Returns true when no more events will come. */
  hasEnded(): Promise<boolean>;
};

/**
 * Follows an event stream and reconnects after the last received fact. Yields every fact exactly once, in order and
 * without gaps. Deltas may be missing around a reconnect; a `message_restart` precedes the deltas that are sent again.
 */
export function followEvents(
  { isLastFact, hasEnded, ...source }: EventStreamSource,
  { after = 0, stream = "all", ...options }: FollowOptions,
): AsyncIterableIterator<Event, void, undefined> {
  const tracker = trackPosition(after);
  let silentConnections = 0;
  const path = stream === "all" ? source.path : `${source.path}?stream=${stream}`;
  return followStream<Event>(
    { ...source, path },
    {
      async isComplete() {
        const last = tracker.getLastFact();
        return last !== undefined && (await isLastFact(last));
      },
      beginConnection() {
        silentConnections++;
        return toEventId(tracker.beginConnection());
      },
      accept(_, data) {
        silentConnections = 0;
        return tracker.accept(data as Event);
      },
      isLast: (event) => isFact(event) && isLastFact(event),
      async onClose() {
        // A stream opened after the last fact stays silent. If a fact has been received, the end is still to come.
        const isSilent = silentConnections > 1 && !tracker.getLastFact() && after > 0;
        return isSilent && (await hasEnded()) ? "end" : "lost";
      },
    },
    options,
  );
}

const toEventId = (position: number): string | undefined => (position > 0 ? String(position) : undefined);

/** An event of a view that the server makes of the events of a run. `id` continues after it. */
export type ViewEvent = { readonly event: string; readonly data: Json; readonly id?: string };

/** Options of a subscription to a view. */
export type FollowViewOptions = Omit<FollowOptions, "after"> & {
  /** The `id` of the last known event. Starts from the first event by default. */
  readonly after?: string;
};

/** Follows a view of the events and reconnects after the last received event. Yields every event exactly once. */
export function followView(
  { hasEnded, ...source }: Omit<EventStreamSource, "isLastFact">,
  view: string,
  { after, stream, ...options }: FollowViewOptions,
): AsyncIterableIterator<ViewEvent, void, undefined> {
  let lastId = after;
  let wasEnded = false;
  let isSilent = true;
  const query = new URLSearchParams({ events: view, ...(stream && { stream }) });
  return followStream<ViewEvent>(
    { ...source, path: `${source.path}?${query}` },
    {
      isComplete: () => false,
      beginConnection() {
        isSilent = true;
        return lastId;
      },
      accept(event = "message", data, id) {
        isSilent = false;
        lastId = id ?? lastId;
        return [{ event, data: data as Json, ...(id !== undefined && { id }) }];
      },
      isLast: () => false,
      // A view does not tell its end: after the end of the run, nothing is left once a connection stays silent.
      async onClose() {
        if (wasEnded && isSilent) return "end";
        wasEnded ||= await hasEnded();
        return wasEnded ? "reconnect" : "lost";
      },
    },
    options,
  );
}
