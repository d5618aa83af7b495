import type { ErrorData } from "../errors.ts";
import type { RunStatus } from "../event.ts";
import type { Citation, Part, ResultStatus, UiHint } from "../history.ts";
import type { Json } from "../json.ts";
import type { Usage } from "../model.ts";
import { noUsage } from "../state/state.ts";
import type { Question } from "../tool.ts";

/** A tool call: requested (`said`), waiting for approval (`asking`), running, or finished. */
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
      /** Summary of the turn, written by a model. */
      readonly summary?: string;
    }
  /** A warning, a limit or a compaction. */
  | { readonly type: "notice"; readonly runId: string; readonly code: string; readonly message: string };

export type PendingView = {
  readonly callId: string;
  readonly name: string;
  readonly needs: "approval" | "answer";
  /** Set when a nested run inside this call asks. */
  readonly parentCallId?: string;
  readonly reason?: string;
  readonly shown?: string;
  readonly digest?: string;
  readonly question?: Question;
  readonly number?: number;
};

/** Streamed output that is not in a fact yet. */
export type LiveView = {
  readonly text: string;
  readonly reasoning: string;
  readonly citations: readonly Citation[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly progress: readonly { readonly callId: string; readonly data: Json }[];
  readonly summary: string;
  readonly retry?: { readonly attempt: number; readonly code: string; readonly waitMs: number };
};

/** A session, as a user interface shows it. */
export type SessionView = {
  /** Position of the last applied fact. */
  readonly seq: number;
  readonly status: "idle" | "running" | "waiting" | RunStatus;
  /** The newest run. */
  readonly runId?: string;
  readonly turn: number;
  readonly entries: readonly EntryView[];
  readonly live: LiveView;
  readonly pending: readonly PendingView[];
  /** Usage of the whole session. */
  readonly usage: Usage;
  /** Set when the newest run failed. */
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

/** The view of an empty session. */
export const emptyView: SessionView = {
  seq: 0,
  status: "idle",
  turn: 0,
  entries: [],
  live: nothingLive,
  pending: [],
  usage: noUsage,
};
