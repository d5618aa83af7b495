import type { Fact } from "capstan";

/** State of a bar. */
export type BarState = "running" | "ok" | "error" | "denied" | "skipped" | "interrupted";

/** Something that took time within a turn. */
export type TimelineBar = {
  readonly id: string;
  readonly kind: "model" | "tool" | "waiting";
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** For a running bar: the last known time. */
  readonly to: number;
  /** First and last fact. */
  readonly seq: number;
  readonly lastSeq: number;
  readonly state: BarState;
  /** Number of attempts. */
  readonly attempts: number;
  /** One-line description. */
  readonly detail: string;
  readonly callId?: string;
};

/** An instant within a turn. */
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
  /** Nesting depth: the number of agents waiting for this one. */
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

/** The runs, turns and bars of a session. */
export type Timeline = {
  readonly runs: readonly TimelineRun[];
  /** Nested runs, by the id of the call's bar. */
  readonly nested: ReadonlyMap<string, readonly TimelineRun[]>;
  /** Id of the bar, turn or run of each fact, by `seq`. */
  readonly locations: ReadonlyMap<number, string>;
};
