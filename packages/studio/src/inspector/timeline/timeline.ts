import type { Fact } from "capstan";

/** How a bar ended, or that it has not. */
export type BarState = "running" | "ok" | "error" | "denied" | "skipped" | "interrupted";

/** Something that took time. It lies inside its turn. */
export type TimelineBar = {
  readonly id: string;
  readonly kind: "model" | "tool" | "waiting";
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** Of what is still on: as far as it is known. */
  readonly to: number;
  /** Of the facts that it begins and ends with. */
  readonly seq: number;
  readonly lastSeq: number;
  readonly state: BarState;
  /** All tries together. */
  readonly attempts: number;
  /** A line about it. */
  readonly about: string;
  readonly callId?: string;
};

/** Something that happened at one moment of a turn. */
export type TimelineMark = {
  readonly seq: number;
  readonly at: number;
  readonly label: string;
  readonly isBad: boolean;
};

export type TimelineTurn = {
  readonly id: string;
  readonly turn: number;
  readonly agent: string;
  /** How many agents wait for this one. */
  readonly depth: number;
  readonly seq: number;
  readonly from: number;
  readonly to: number;
  readonly bars: readonly TimelineBar[];
  readonly marks: readonly TimelineMark[];
};

export type TimelineRun = {
  readonly id: string;
  readonly runId: string;
  readonly agent: string;
  readonly depth: number;
  readonly seq: number;
  readonly from: number;
  readonly to: number;
  readonly status: "running" | "waiting" | Extract<Fact, { type: "done" }>["status"];
  readonly question: string;
  readonly turns: readonly TimelineTurn[];
};

/** What took how long in a session. */
export type Timeline = {
  readonly runs: readonly TimelineRun[];
  /** The runs inside a call, by the id of its bar. */
  readonly nested: ReadonlyMap<string, readonly TimelineRun[]>;
  /** By the `seq` of a fact: the id of the bar, turn or run that it belongs to. */
  readonly places: ReadonlyMap<number, string>;
};
