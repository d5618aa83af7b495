import type { Event, Json } from "capstan";

/** An event of a view: a name and data, sent as a server-sent event. */
export type ViewEvent = { readonly event: string; readonly data: Json };

/** The events of a run in the vocabulary of an app: a projection, created for every reader. */
export interface EventView {
  /** Shown to users: "Stages and turns of the graph's controller". */
  readonly description: string;
  /**
   * Returns a function that converts the events of one run, from its first on. It must depend on nothing else, and get
   * along without deltas: they are not stored, so a reader who comes late gets only facts.
   */
  create(): (event: Event) => readonly ViewEvent[];
}

/** Views by the name that clients request. */
export type EventViews = { readonly [name: string]: EventView };
