import type { ErrorData } from "./errors.ts";
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
import type { Json } from "./json.ts";
import type { Source } from "./labels.ts";
import type { Finish, Usage } from "./model.ts";
import type { HandoffPolicy, Policy } from "./policy.ts";
import type { Question, Reads } from "./tool.ts";

export type RunStatus = "done" | "limit" | "failed" | "cancelled";

/** Whether a turn had tools: offered, demanded, withdrawn because it is the last, or given up because all of them failed. */
export type ToolOffer = "offered" | "required" | "withdrawn" | "unavailable";

/** Which of the agent's models take a turn. */
export type ModelChain = "main" | "afterTools";

/** What was found out about a call when the model had said it: why it cannot run, or that a person must agree. */
export type CallCheck = {
  readonly error?: ErrorData;
  readonly approval?: {
    readonly reason: string;
    readonly digest: string;
    /** Asked by the safety gate, not by the tool: what made the call suspicious. */
    readonly because?: readonly Source[];
  };
};

export type StructuredOutput = { readonly value: Json } | { readonly issues: readonly string[] };

/** The content of a fact: something that happened, as JSON. A run is its list of facts. */
export type FactBody =
  | {
      readonly type: "run_start";
      readonly input: readonly Entry[];
      readonly policy: Policy;
      readonly timeZone: string;
      /** In place of the agent's own, when the input began with a system message. */
      readonly instructions?: string;
    }
  | {
      /** The intent of a model call. */
      readonly type: "turn_start";
      readonly turn: number;
      readonly maxTurns: number | "unlimited";
      readonly messageCount: number;
      readonly tools: ToolOffer;
      readonly chain: ModelChain;
      /** What was added to the instructions for this turn. */
      readonly notes: readonly string[];
    }
  | {
      readonly type: "message";
      readonly entry: AssistantEntry;
      readonly model: string;
      readonly usage: Usage;
      readonly ms: number;
      /** `aborted`: the run was cancelled in mid-sentence and this is what had been said. */
      readonly finish: Finish | "aborted";
      /** By call id; a call without an entry may run. */
      readonly checks?: { readonly [callId: string]: CallCheck };
      /** Of an answer that must have a form: what it says, or how it fails to have that form. */
      readonly output?: StructuredOutput;
      /** The sources of its text, in the order of their first mention. */
      readonly citations?: readonly Citation[];
    }
  | {
      /** One model of the chain has given up; the next one is asked, or the run fails. */
      readonly type: "model_failed";
      readonly model: string;
      readonly candidate: number;
      readonly attempts: number;
      /** It had been given more room already. */
      readonly hadMoreRoom: boolean;
      /** It asks for more patience than a process should have: the run rests, and asks again later. */
      readonly isParked?: true;
      readonly error: ErrorData;
      /** It was asked for a summary, the one of this compaction. */
      readonly compaction?: number;
    }
  | {
      /** The intent of a summary of the first `until` entries of the history. `number` counts compactions from 1. */
      readonly type: "compaction_start";
      readonly number: number;
      readonly until: number;
    }
  | {
      /** The first `until` entries of the history take less room from here on; the log still has them. */
      readonly type: "compacted";
      readonly number: number;
      readonly until: number;
      /** What takes their place. Left out: only their results are shortened. */
      readonly text?: string;
      /** Who wrote the text. Left out: nobody could, and it only says what is missing. */
      readonly model?: string;
      readonly usage?: Usage;
      readonly ms?: number;
    }
  | {
      /** The intent of a tool call. `attempt` counts begins after a crash. */
      readonly type: "tool_call_start";
      readonly id: string;
      readonly name: string;
      readonly arguments: Json;
      readonly attempt: number;
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
      /** A line about the result, by the tool. */
      readonly message?: string;
      /** Where the whole result is, when it was too large for the model. */
      readonly handle?: string;
      /** Until when the same call may be answered with this result. */
      readonly cacheUntil?: number;
      /** What it brings into the conversation. */
      readonly reads?: readonly Reads[];
      /** Not performed: the result of an earlier call that was the same. */
      readonly cached?: true;
    }
  | {
      readonly type: "approval_required";
      readonly callId: string;
      readonly name: string;
      readonly input: Json;
      /** The input as a person is to be shown it: with everything visible. */
      readonly shown: string;
      readonly reason: string;
      readonly digest: string;
      readonly because?: readonly Source[];
      /** Asked by the tool in the middle of its call; `number` counts the questions of the call from 1. */
      readonly question?: Question;
      readonly number?: number;
      /** What the tool had read when it asked. */
      readonly reads?: readonly Reads[];
    }
  | {
      readonly type: "approval_resolved";
      readonly callId: string;
      readonly approved: boolean;
      readonly reason?: string;
      /** Of a question: which one, and the answer to it. */
      readonly number?: number;
      readonly value?: Json;
    }
  /** `until`: nobody is asked; it goes on by itself when that time has come. */
  | { readonly type: "waiting"; readonly callIds: readonly string[]; readonly until?: number }
  /** The run goes on: the time that it waited for has come, or a call of a nested run was answered. */
  | { readonly type: "woken" }
  | {
      /** Another agent is in charge from here on. In mode `return`, `callId` gets its result when that one has answered. */
      readonly type: "handoff";
      readonly from: string;
      readonly to: string;
      readonly callId: string;
      readonly mode: HandoffPolicy["mode"];
      readonly message?: string;
      /** Where the specialist's own policy is stricter than the run's. */
      readonly rights?: Partial<Pick<Policy, "gate" | "approvals">>;
      /** What the one that handed over had read before the first turn: the descriptions of its tools. */
      readonly reads?: readonly Reads[];
    }
  /** A handoff that may not be: to whom, and why. */
  | { readonly type: "handoff_denied"; readonly callId: string; readonly to: string; readonly reason: string }
  | {
      /** The specialist gives back: `text` becomes the result of the call that handed over. */
      readonly type: "handoff_return";
      readonly from: string;
      readonly to: string;
      readonly callId: string;
      readonly text: string;
      readonly data?: Json;
      /** It came to no answer. */
      readonly error?: ErrorData;
      /** The specialist's own call, when it hands back by one. */
      readonly by?: string;
    }
  | { readonly type: "steered"; readonly entry: UserEntry }
  /** The process that was at work on the run is gone; another goes on. */
  | { readonly type: "recovered"; readonly owner: string }
  | { readonly type: "cancel_requested"; readonly reason: string }
  | { readonly type: "turn_end"; readonly turn: number; readonly usage: Usage }
  /** For people only: what was done in a turn. Empty when nobody could say. */
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
    };

/** Live only, never stored: what a listener sees between two facts. */
export type DeltaBody =
  | { readonly type: "content_delta"; readonly delta: string }
  /** The text so far has a citation that was not in it before. Once per number and message. */
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
  /** What was streamed of this message is void; it is being said again. */
  | { readonly type: "message_restart"; readonly reason: string }
  | { readonly type: "retry"; readonly attempt: number; readonly code: string; readonly waitMs: number };

/** Where an event belongs. */
export type Origin = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly turn: number;
  /** Of a nested run: whose call it is. */
  readonly parentRunId?: string;
  readonly parentCallId?: string;
};

/** `seq` counts the facts of a session from 1; `at` is milliseconds since the epoch. */
export type Fact = FactBody & Origin & { readonly seq: number; readonly at: number; readonly id: string };
export type Delta = DeltaBody & Origin;
export type Event = Fact | Delta;

/** A fact before the store has given it its place. */
export type UnplacedFact = FactBody & Origin & { readonly at: number; readonly id: string };

export function isFact(event: Event): event is Fact {
  return "seq" in event;
}
