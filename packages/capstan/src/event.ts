import type { ErrorData } from "./errors.ts";
import type { AssistantEntry, Entry, Fragment, Part, ResultStatus, UiHint, UserEntry } from "./history.ts";
import type { Json } from "./json.ts";
import type { Source } from "./labels.ts";
import type { Finish, Usage } from "./model.ts";
import type { Policy } from "./policy.ts";
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
  /** The time that a run waited for has come. */
  | { readonly type: "woken" }
  | { readonly type: "steered"; readonly entry: UserEntry }
  /** The process that was at work on the run is gone; another goes on. */
  | { readonly type: "recovered"; readonly owner: string }
  | { readonly type: "cancel_requested"; readonly reason: string }
  | { readonly type: "turn_end"; readonly turn: number; readonly usage: Usage }
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
  | { readonly type: "reasoning_delta"; readonly delta: string }
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

/**
 * The id of a fact, from what it says and never from chance or time, so that a step that is repeated after a
 * crash says nothing twice: one start per turn, one result per call, one end per run. `place` tells apart
 * facts that may occur several times.
 */
export function factId(body: FactBody, runId: string, place: string): string {
  switch (body.type) {
    // These carry the id of their call; `identityOf` tells start and result apart.
    case "tool_call_start":
    case "tool_call_result":
      return body.id;
    case "turn_start":
    case "turn_end":
      return `${runId}/${body.type}/${body.turn}`;
    case "compaction_start":
    case "compacted":
      return `${runId}/${body.type}/${body.number}`;
    case "approval_required":
    case "approval_resolved":
      // The number stands before the slash: call ids are made by providers and may end like one.
      return `${runId}/${body.type}${body.number === undefined ? "" : `.${body.number}`}/${body.callId}`;
    case "run_start":
    case "cancel_requested":
    case "limit_reached":
    case "error":
    case "done":
      return `${runId}/${body.type}`;
    case "message":
    case "model_failed":
    case "waiting":
    case "steered":
    case "recovered":
    case "woken":
    case "warning":
      return `${runId}/${body.type}/${place}`;
  }
}

/** What makes a fact unique in its session: a store keeps one fact per identity. */
export function identityOf(fact: UnplacedFact): string {
  const attempt = fact.type === "tool_call_start" ? `/${fact.attempt}` : "";
  return `${fact.runId}/${fact.type}/${fact.id}${attempt}`;
}
