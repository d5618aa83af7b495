import type { Event, Json } from "capstan";

/** An event of a view: a name and data, sent as a server-sent event. */
export type ViewEvent = { readonly event: string; readonly data: Json };

/** The events of a run in the vocabulary of an app: a projection, created anew for every reader. */
export interface EventView {
  /** For people: "Stages and turns of the graph's controller". */
  readonly description: string;
  /** Returns a function that converts the events of one run, from its first on. It must depend on nothing else. */
  create(): (event: Event) => readonly ViewEvent[];
}
