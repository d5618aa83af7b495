import type { ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Delta, Fact, RunStatus } from "../kernel/event.ts";
import type { Citation, Fragment, GeneratedMedia, Part, ResultStatus, UiHint } from "../kernel/history.ts";
import type { Usage } from "../kernel/model.ts";
import type { Provenance } from "../kernel/provenance.ts";
import { addUsage, noUsage } from "../kernel/state.ts";
import type { Question } from "../kernel/tool.ts";
import type { Stage } from "./stage.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;
type DeltaOf<Type extends Delta["type"]> = Extract<Delta, { readonly type: Type }>;

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
  /** The provider executed it. */
  readonly hosted?: true;
  /** The user changed the model's arguments; `input` has the user's. */
  readonly isEdited?: true;
  /** Position of the fact that started it. */
  readonly seq?: number;
};

export type EntryView = {
  readonly runId: string;
  /** Position of the fact that created the entry. */
  readonly seq: number;
} & (
  | {
      readonly type: "user";
      readonly content: string | readonly Part[];
      /** Who wrote it, if not the user. */
      readonly provenance?: Provenance;
    }
  | {
      readonly type: "assistant";
      readonly agent: string;
      readonly turn: number;
      readonly text: string;
      readonly reasoning: string;
      readonly citations: readonly Citation[];
      /** Generated media; the server has their bytes at `/api/sessions/{sessionId}/blobs/{handle}`. */
      readonly media: readonly GeneratedMedia[];
      readonly calls: readonly CallView[];
      /** Duration of the model call. */
      readonly ms?: number;
      /** Summary of the turn, written by a model. */
      readonly summary?: string;
    }
  /** A warning, a limit or a compaction. */
  | { readonly type: "notice"; readonly code: string; readonly message: string }
);

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
  readonly input?: Json;
  /** When an undecided approval request is denied. */
  readonly expiresAt?: number;
  /** The calls that can be allowed for the rest of the session. */
  readonly always?: NonNullable<FactOf<"approval_required">["always"]>;
  /** A wider set of calls that can be allowed instead. */
  readonly pattern?: NonNullable<FactOf<"approval_required">["pattern"]>;
  /** What the call would do, such as a diff. */
  readonly ui?: UiHint;
  /** Earlier calls that read untrusted or private content. */
  readonly because?: NonNullable<FactOf<"approval_required">["because"]>;
  readonly leaks?: NonNullable<FactOf<"approval_required">["leaks"]>;
};

/** Streamed output that is not in a fact yet. */
export type LiveView = {
  readonly text: string;
  readonly reasoning: string;
  readonly citations: readonly Citation[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly progress: readonly { readonly callId: string; readonly data: Json }[];
  readonly summary: string;
  /** What the stored part of the message says, while the model continues it. */
  readonly partial?: Pick<LiveView, "text" | "reasoning" | "citations"> | undefined;
  /** The failed call that is repeated at `at`. */
  readonly retry?: Pick<DeltaOf<"retry">, "attempt" | "code" | "message" | "waitMs" | "at">;
  /** Part of the message was discarded, because the model failed in the middle of it. */
  readonly discarded?: Pick<DeltaOf<"message_restart">, "reason" | "model" | "discarded">;
};

/** Failed calls in a row. */
export type Outage = {
  /** The model that failed last, and why. */
  readonly model: string;
  readonly error: ErrorData;
  /** Calls since the last message. */
  readonly attempts: number;
};

/** A run of the session, nested or not. */
export type RunView = {
  readonly runId: string;
  /** The outermost run that contains it. */
  readonly rootRunId: string;
  readonly start?: FactOf<"run_start">;
  readonly end?: FactOf<"done">;
  /** When a waiting run resumes by itself, in milliseconds since the epoch. */
  readonly resumesAt?: number;
  /** Failures of its models since their last message, which the run repeats or waits out. */
  readonly outage?: Outage;
  /** Input tokens of the newest model call. */
  readonly inputTokens?: number;
  /** The `affected` values of its results. A root run includes its nested runs' values. */
  readonly affected: readonly Json[];
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
  /** Stage after the last fact, without live output. */
  readonly stage: Stage;
  /** All runs, including nested ones, by id. */
  readonly runs: ReadonlyMap<string, RunView>;
  /** Views of nested runs, by the id of the call that contains them. */
  readonly nested: ReadonlyMap<string, SessionView>;
  /** Passages that can be cited, by id. */
  readonly fragments: ReadonlyMap<string, Fragment>;
  /** UI hints of all results, nested ones included, in order. */
  readonly hints: readonly { readonly seq: number; readonly hint: UiHint }[];
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
  stage: "idle",
  runs: new Map(),
  nested: new Map(),
  fragments: new Map(),
  hints: [],
};

type UsageFields = { readonly usage?: Usage; readonly retryUsage?: Usage };

/** Adds the usage of a model call, and of its failed attempts. */
export function withUsage(view: SessionView, { usage, retryUsage }: UsageFields): SessionView {
  return usage || retryUsage ? { ...view, usage: addUsage(view.usage, usage, retryUsage) } : view;
}
