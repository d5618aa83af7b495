import type { ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { ApprovalScope } from "./approval-scope.ts";
import type { CallCheck, Leak } from "./call-check.ts";
import type {
  AssistantEntry,
  Citation,
  Entry,
  Fragment,
  Part,
  ResultStatus,
  UiHint,
  UserEntry,
} from "./history.ts";
import type { MessageEnd, StopReason, TokenLogprob, ToolSpec, Usage } from "./model.ts";
import type { HandoffPolicy, Policy } from "./policy.ts";
import type { Source } from "./provenance.ts";
import type { ModelSettings } from "./settings/settings.ts";
import type { Question, Reads, ToolCall } from "./tool.ts";

/**
 * The version of the facts that this code writes; stored with each of them. Raise it with every change of their shape: a
 * process of an earlier version then leaves the run to others instead of misreading it. Facts of every earlier version
 * are folded, so new fields are optional and old ones keep their meaning.
 */
export const factVersion = 4;

export type RunStatus = "done" | "limit" | "failed" | "cancelled";

/** Tools in a turn: offered, required, withdrawn at a limit, or unavailable because all of them failed. */
export type ToolOffer = "offered" | "required" | "withdrawn" | "unavailable";

/** The model chain that a turn uses. */
export type ModelChain = "main" | "afterTools";

export type StructuredOutput = { readonly value: Json } | { readonly issues: readonly string[] };

/** The content of a fact: something that happened, as JSON. The state of a run is derived from its facts alone. */
export type FactBody =
  | {
      readonly type: "run_start";
      readonly input: readonly Entry[];
      readonly policy: Policy;
      readonly timeZone: string;
      /** Take precedence over the agent's. */
      readonly settings?: ModelSettings;
      /** Replaces the agent's instructions; set if the input began with a system message. */
      readonly instructions?: string;
      /** The run comes from a file: nothing in it grants a right, and its text is external. */
      readonly imported?: true;
      /** The run summarizes the history of the session and does not answer. */
      readonly compact?: true;
      /** The content version of the agent, see `computeAgentVersion`. */
      readonly agentVersion?: string;
      /** Words of the application by which runs are found. */
      readonly tags?: readonly string[];
      /** For a nested run: its call returns at once, and its end is a message to the parent. */
      readonly background?: true;
    }
  | {
      /** Stored before a model call. */
      readonly type: "turn_start";
      readonly turn: number;
      readonly maxTurns: number | "unlimited";
      readonly messageCount: number;
      readonly tools: ToolOffer;
      readonly chain: ModelChain;
      /** Added to the instructions for this turn. */
      readonly notes: readonly string[];
    }
  | {
      readonly type: "message";
      readonly entry: AssistantEntry;
      readonly model: string;
      readonly usage: Usage;
      /** Of earlier attempts, whose answers could not be used. */
      readonly retryUsage?: Usage;
      readonly ms: number;
      /** `aborted`: the run was cancelled while streaming, and the entry is partial. Read with `getStopReason`. */
      readonly stopReason?: MessageEnd;
      /** What facts of version 1 have instead of `stopReason`. */
      readonly finish?: MessageEnd | "stop";
      /** By call id. A call without a check may run. */
      readonly checks?: { readonly [callId: string]: CallCheck };
      /** The validated value of a structured answer, or its validation issues. */
      readonly output?: StructuredOutput;
      /** The sources cited in the text, in the order of their first mention. */
      readonly citations?: readonly Citation[];
      /** The settings of the request, if it had any. */
      readonly settings?: ModelSettings;
      readonly logprobs?: readonly TokenLogprob[];
      /**
       * Untrusted text that the model has read while it wrote the message: results of hosted tools, and third-party tool
       * descriptions, if the conversation has no label for their origin yet.
       */
      readonly sources?: readonly Source[];
    }
  | {
      /**
       * The message so far: the model reached its output limit or paused, and is called again to continue it. The final
       * `message` contains the complete message.
       */
      readonly type: "message_partial";
      readonly entry: AssistantEntry;
      readonly stopReason: "length" | "pause";
      readonly model: string;
      readonly candidate: number;
      /** Of the last call. */
      readonly usage: Usage;
      readonly retryUsage?: Usage;
      readonly ms: number;
      readonly citations?: readonly Citation[];
    }
  | {
      /** One model of the chain failed; the next one is called, or the run fails. */
      readonly type: "model_failed";
      readonly model: string;
      readonly candidate: number;
      readonly attempts: number;
      /** Whether the output limit had already been raised. */
      readonly hadMoreRoom: boolean;
      /** The provider is down or asks for a long wait: the run suspends and calls the model again later. */
      readonly isParked?: true;
      /** How long a parked run waits. Default: as long as the provider asks for in `error`. */
      readonly waitMs?: number;
      /** Of all attempts, if the provider reported it: an unusable answer is billed too. */
      readonly usage?: Usage;
      /** Characters of a partial answer that were discarded. */
      readonly discarded?: number;
      readonly error: ErrorData;
      /** Why the model stopped, and the text it gave, if its answer ended but cannot be used. */
      readonly stopReason?: StopReason;
      readonly text?: string;
      /** The failed call was for the summary of this compaction. */
      readonly compaction?: number;
    }
  | {
      /** Stored before the first `until` entries of the history are summarized. `number` counts compactions from 1. */
      readonly type: "compaction_start";
      readonly number: number;
      readonly until: number;
    }
  | {
      /** The first `until` entries of the history were shortened or replaced; the log still has them. */
      readonly type: "compacted";
      readonly number: number;
      readonly until: number;
      /** Results of the last turns that were shortened instead, because those turns alone exceed the budget. */
      readonly results?: readonly {
        readonly callId: string;
        readonly content: string;
        readonly handle: string;
      }[];
      /** The summary that replaces them. Without it, only their tool results are shortened. */
      readonly text?: string;
      /** The model that wrote the summary. Without it, no model could, and the text is a generated note. */
      readonly model?: string;
      readonly usage?: Usage;
      readonly ms?: number;
    }
  | {
      /** Stored before a tool call. `attempt` counts starts, including those after a crash. */
      readonly type: "tool_call_start";
      readonly id: string;
      readonly name: string;
      readonly arguments: Json;
      readonly attempt: number;
      /** The provider executed the call; the fact follows the message. */
      readonly hosted?: true;
    }
  | {
      readonly type: "tool_call_result";
      readonly id: string;
      readonly name: string;
      readonly result: string | readonly Part[];
      readonly is_error: boolean;
      readonly status: ResultStatus;
      readonly attempts: number;
      readonly ms: number;
      readonly data?: Json;
      readonly error?: ErrorData;
      readonly ui?: UiHint;
      readonly contexts?: readonly Fragment[];
      readonly affected?: Json;
      /** The tool's one-line description of the result. */
      readonly message?: string;
      /** Handle of the complete result if it was too large for the model. */
      readonly handle?: string;
      /** The tool returned more data than is kept: the content ends early. */
      readonly isPartial?: true;
      /** Time until which an identical call may reuse this result. */
      readonly cacheUntil?: number;
      /** Labels of the data that the result adds to the conversation. */
      readonly reads?: readonly Reads[];
      /** Deferred tools that the call has found, or that it used for the first time: later requests include them. */
      readonly discovered?: readonly ToolSpec[];
      /** The provider executed the call, and its message has the result in the provider's own form. */
      readonly hosted?: true;
      /** The call was not performed: the result of an identical earlier call was reused. */
      readonly cached?: true;
      /** How often the run had been retried. A handoff that a failure interrupted gets another result after a retry. */
      readonly retry?: number;
    }
  | {
      readonly type: "approval_required";
      readonly callId: string;
      readonly name: string;
      readonly input: Json;
      /** The input formatted for display, with invisible characters escaped. */
      readonly shown: string;
      readonly reason: string;
      readonly digest: string;
      readonly because?: readonly Source[];
      readonly leaks?: readonly Leak[];
      readonly always?: ApprovalScope;
      readonly pattern?: ApprovalScope;
      readonly ui?: UiHint;
      /** The time after which the request can no longer be approved. */
      readonly expiresAt?: number;
      /** A question the tool asks during its call; `number` counts the questions of the call from 1. */
      readonly question?: Question;
      readonly number?: number;
      /** Labels of the data the tool had read when it asked. */
      readonly reads?: readonly Reads[];
    }
  | {
      readonly type: "approval_resolved";
      readonly callId: string;
      readonly approved: boolean;
      readonly reason?: string;
      /** For a question: its number and the answer. */
      readonly number?: number;
      readonly value?: Json;
      /** The arguments with which the user replaced the model's, and the digest of the call with them. */
      readonly input?: Json;
      readonly digest?: string;
    }
  /** The run suspended. With `until`, it resumes by itself at that time. */
  | { readonly type: "waiting"; readonly callIds: readonly string[]; readonly until?: number }
  /** The run resumed: its wait is over, or a call of a nested run was answered. */
  | { readonly type: "woken" }
  | {
      /** Another agent takes over. In mode `return`, its answer becomes the result of `callId`. */
      readonly type: "handoff";
      readonly from: string;
      readonly to: string;
      readonly callId: string;
      readonly mode: HandoffPolicy["mode"];
      readonly message?: string;
      /** Settings in which the target's own policy is stricter than the run's. */
      readonly rights?: Partial<Pick<Policy, "gate" | "approvals">>;
      /** What facts of version 1 have instead of `sources` in the messages of the agent that hands off. */
      readonly reads?: readonly Reads[];
    }
  /** A handoff that is not allowed. */
  | { readonly type: "handoff_denied"; readonly callId: string; readonly to: string; readonly reason: string }
  | {
      /** The target returns control: `text` becomes the result of the handoff call. */
      readonly type: "handoff_return";
      readonly from: string;
      readonly to: string;
      readonly callId: string;
      readonly text: string;
      readonly data?: Json;
      /** Set if the target has no answer. */
      readonly error?: ErrorData;
      /** The target's own handoff call, if it hands back with one. */
      readonly by?: string;
    }
  | {
      readonly type: "steered";
      readonly entry: UserEntry;
      /** The queued run that the message would have become if this run had ended first. */
      readonly queuedAs?: string;
    }
  | {
      /** The previous process stopped while running this; another one took over. */
      readonly type: "recovered";
      readonly owner: string;
      /** The process executes no other run until this one makes progress or `solo_end` follows. */
      readonly alone?: true;
    }
  /** The run is no longer alone in its process, so a crash does not count against it. */
  | { readonly type: "solo_end" }
  | {
      readonly type: "cancel_requested";
      readonly reason: string;
      /** Only the background run that this call started is cancelled. */
      readonly callId?: string;
    }
  /** A failed run continues: from the model call that failed, or, if it was quarantined, where it stopped. */
  | {
      readonly type: "retried";
      /** Usage up to the failed end. The next end includes it. */
      readonly usageBefore?: Usage;
    }
  | { readonly type: "turn_end"; readonly turn: number; readonly usage: Usage }
  /** A description of the turn for the user; never sent to the model. Empty if it could not be generated. */
  | {
      readonly type: "turn_summary";
      readonly turn: number;
      readonly text: string;
      readonly model?: string;
      readonly usage?: Usage;
      readonly ms?: number;
      readonly error?: ErrorData;
    }
  | {
      readonly type: "limit_reached";
      readonly code: string;
      readonly message: string;
      readonly turns: number;
    }
  | { readonly type: "warning"; readonly code: string; readonly message: string }
  | { readonly type: "error"; readonly code: string; readonly message: string; readonly retryable: boolean }
  | {
      readonly type: "done";
      readonly status: RunStatus;
      readonly text: string;
      readonly usage: Usage;
      readonly cost: number;
      readonly grounded: boolean;
      readonly output?: Json;
      readonly error?: ErrorData;
      /** The model failed, or the run was quarantined: a `retry` message continues the run. */
      readonly canRetry?: true;
    };

/** The content of a live event between two facts; never stored. */
export type DeltaBody =
  | { readonly type: "content_delta"; readonly delta: string }
  /** A source is cited for the first time in this message. */
  | {
      readonly type: "citation";
      readonly n: number;
      readonly id: string;
      readonly source: Fragment["source"];
    }
  | { readonly type: "reasoning_delta"; readonly delta: string }
  | { readonly type: "turn_summary_delta"; readonly delta: string }
  | { readonly type: "tool_call_delta"; readonly id: string; readonly name: string; readonly delta: string }
  | { readonly type: "tool_progress"; readonly id: string; readonly data: Json }
  /** Discards the deltas of this message so far: it is generated again. */
  | {
      readonly type: "message_restart";
      readonly reason: string;
      /** The model whose partial answer is discarded, and its length in characters. */
      readonly model?: string;
      readonly discarded?: number;
    }
  /** A call failed and is made again at `at`, after `waitMs`. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
      readonly waitMs: number;
      readonly at: number;
    };

/** The run, session, agent and turn of an event. */
export type Origin = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly turn: number;
  /** For a nested run: the run and the call that started it. */
  readonly parentRunId?: string;
  readonly parentCallId?: string;
};

/** What the log adds to a fact. */
export type Stamp = {
  readonly id: string;
  /** The wall clock, in milliseconds since the epoch. It may go back from one fact to the next; `seq` is the order. */
  readonly at: number;
  /**
   * How long the session's runs took since the previous fact, on the monotonic clock. Only set when the difference of
   * the two `at` is wrong: the wall clock was set, the machine slept, or no process had the run.
   */
  readonly elapsedMs?: number;
};

type StartBody = Extract<FactBody, { readonly type: "tool_call_start" }>;
type ApprovalBody = Extract<FactBody, { readonly type: "approval_required" }>;

/** The content of a fact, with the names and the inputs of the tools that its run can call. */
type TypedBody<Call extends ToolCall> =
  | Exclude<FactBody, StartBody | ApprovalBody>
  | (Omit<StartBody, keyof ToolCall["start"]> & Call["start"])
  | (Omit<ApprovalBody, keyof ToolCall["call"]> & Call["call"]);

/** `seq` counts the facts of a session from 1. */
export type Fact<Call extends ToolCall = ToolCall> = TypedBody<Call> &
  Origin &
  Stamp & { readonly seq: number };
export type Delta = DeltaBody & Origin;
export type Event<Call extends ToolCall = ToolCall> = Fact<Call> | Delta;

/** A fact before the store has assigned its `seq`. */
export type UnplacedFact = FactBody & Origin & Stamp;

export function isFact<Call extends ToolCall>(event: Event<Call>): event is Fact<Call> {
  return "seq" in event;
}
