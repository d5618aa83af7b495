import type { ErrorData } from "../errors.ts";
import type { RunStatus } from "../event.ts";
import type { Citation, Part, ResultStatus, UiHint } from "../history.ts";
import type { Json } from "../json.ts";
import type { Usage } from "../model.ts";
import { noUsage } from "../state/state.ts";
import type { Question } from "../tool.ts";

/** A tool call as a card: said and not begun, waiting for a person, running, or with its end. */
export type CallView = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly state: "said" | "asking" | "running" | ResultStatus;
  readonly result?: string | readonly Part[];
  readonly data?: Json;
  readonly message?: string;
  readonly ui?: UiHint;
  readonly error?: ErrorData;
  readonly ms?: number;
};

export type EntryView =
  | { readonly type: "user"; readonly runId: string; readonly content: string | readonly Part[] }
  | {
      readonly type: "assistant";
      readonly runId: string;
      readonly agent: string;
      readonly turn: number;
      readonly text: string;
      readonly reasoning: string;
      readonly citations: readonly Citation[];
      readonly calls: readonly CallView[];
      /** What was done in the turn, in the words of a model. */
      readonly summary?: string;
    }
  /** Something people should know: a warning, a limit, a compaction. */
  | { readonly type: "notice"; readonly runId: string; readonly code: string; readonly message: string };

export type PendingView = {
  readonly callId: string;
  readonly name: string;
  readonly needs: "approval" | "answer";
  /** Asked inside this call, by a nested run. */
  readonly parentCallId?: string;
  readonly reason?: string;
  readonly shown?: string;
  readonly digest?: string;
  readonly question?: Question;
  readonly number?: number;
};

/** What is being said at this moment and is in no fact yet. */
export type LiveView = {
  readonly text: string;
  readonly reasoning: string;
  readonly citations: readonly Citation[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly progress: readonly { readonly callId: string; readonly data: Json }[];
  readonly summary: string;
  readonly retry?: { readonly attempt: number; readonly code: string; readonly waitMs: number };
};

/** A session as people see it. */
export type SessionView = {
  /** The position of the last fact in it. */
  readonly seq: number;
  readonly status: "idle" | "running" | "waiting" | RunStatus;
  /** Of the newest run. */
  readonly runId?: string;
  readonly turn: number;
  readonly entries: readonly EntryView[];
  readonly live: LiveView;
  readonly pending: readonly PendingView[];
  /** Of the whole session. */
  readonly usage: Usage;
  /** Why the newest run did not end as it should. */
  readonly error?: ErrorData;
};

export const nothingLive: LiveView = {
  text: "",
  reasoning: "",
  citations: [],
  calls: [],
  progress: [],
  summary: "",
};

/** The view of a session in which nothing has happened. */
export const emptyView: SessionView = {
  seq: 0,
  status: "idle",
  turn: 0,
  entries: [],
  live: nothingLive,
  pending: [],
  usage: noUsage,
};
