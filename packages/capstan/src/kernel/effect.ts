import type { ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { FactBody, ModelChain, ToolOffer } from "./event.ts";
import type { ModelRetry, Retry } from "./policy.ts";
import type { Question, Reply } from "./tool.ts";

/** How a model call is repeated: the policy, and what happened before this effect. */
export type ModelRetryPlan = ModelRetry & {
  /** How long the models of this call have been failing. */
  readonly failingMs: number;
  /** How often the run suspended because of that. */
  readonly suspensions: number;
  /** Whether another model answers if this one fails: then there is no reason to wait for this one. */
  readonly hasAlternative: boolean;
};

/** Calls a model for the next message. */
export type ModelEffect = {
  readonly type: "model";
  readonly id: string;
  readonly agent: string;
  readonly turn: number;
  readonly chain: ModelChain;
  /** Index of the model in that chain. */
  readonly candidate: number;
  /** Raises the output limit, because the previous answer was truncated. */
  readonly hasMoreRoom: boolean;
  /** Stop reasons after which the model is called again to continue its message. */
  readonly continueAfter: readonly ("length" | "pause")[];
  readonly maxTurns: number | "unlimited";
  readonly messageCount: number;
  readonly tools: ToolOffer;
  readonly notes: readonly string[];
  readonly thinking: boolean;
  /** Limit for one attempt. */
  readonly timeoutMs: number;
  /** Limit for all attempts, including the waits between them. */
  readonly deadlineMs: number;
  readonly retry: ModelRetryPlan;
};

/** Runs one tool call. */
export type ToolEffect = {
  readonly type: "tool";
  readonly id: string;
  readonly agent: string;
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
  readonly attempt: number;
  /** Limit for one attempt. */
  readonly timeoutMs: number;
  /** Limit for all attempts, including the waits between them. */
  readonly deadlineMs: number;
  readonly retry: Retry;
  /** Why the call cannot run. It becomes the result of the call. */
  readonly refused?: ErrorData;
  /** The call is not the model's: it runs the agent's fallback tool. */
  readonly isFallback?: boolean;
  /** Digest of the approved call; the call runs only if it still matches. */
  readonly digest?: string;
  /** The questions of this call so far with the user's replies; the call continues from there. */
  readonly asked?: readonly { readonly question: Question; readonly digest: string; readonly reply: Reply }[];
};

/** Calls a model to summarize the first `until` entries of the history. */
export type SummaryEffect = {
  readonly type: "summary";
  readonly id: string;
  readonly agent: string;
  /** Number of the compaction within the run. */
  readonly number: number;
  readonly until: number;
  /** Index of the model in the agent's summary chain. */
  readonly candidate: number;
  /** Maximum characters of the model's input and of its summary. */
  readonly maxInputCharacters: number;
  readonly maxSummaryCharacters: number;
  /** Limit for one attempt. */
  readonly timeoutMs: number;
  /** Limit for all attempts, including the waits between them. */
  readonly deadlineMs: number;
  readonly retry: ModelRetryPlan;
};

/** Shortens results of the last turns, which alone exceed the context budget. */
export type ShortenEffect = {
  readonly type: "shorten";
  readonly id: string;
  /** Number of the compaction within the run. */
  readonly number: number;
  readonly results: readonly { readonly callId: string; readonly maxCharacters: number }[];
};

/** Calls a model to describe a turn for the user. */
export type TurnSummaryEffect = {
  readonly type: "turn_summary";
  readonly id: string;
  readonly agent: string;
  readonly turn: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
};

/** Records facts without calling a model or a tool. */
export type NoteEffect = { readonly type: "note"; readonly id: string; readonly facts: readonly FactBody[] };

/** One unit of work, as JSON. `id` is derived from its position in the run, so it is the same after a crash. */
export type Effect =
  | ModelEffect
  | ToolEffect
  | SummaryEffect
  | ShortenEffect
  | TurnSummaryEffect
  | NoteEffect;

/**
 * Performs one effect: the seam between the loop and the outside world. Failures of models and tools are returned as
 * facts. A rejection means that the journal or the engine failed, and the outcome of the effect is unknown. Retries,
 * timeouts, limits and journals are functions from `Step` to `Step`.
 */
export type Step = (effect: Effect, signal: AbortSignal) => Promise<readonly FactBody[]>;

/** Executes effects. `all` receives the effects of one decision, in call order, and resolves when all are done. */
export interface Engine {
  all(effects: readonly Effect[]): Promise<void>;
  /** Resolves when a background run has ended or suspended; undefined if none executes. */
  whenBackgroundChanges?(): Promise<void> | undefined;
  /** Stops background runs after their current steps. Resolves when nothing is in flight. */
  release?(): Promise<void>;
}

/** Returns the facts that are stored before the effect is performed. */
export function toIntent(effect: Effect): readonly FactBody[] {
  switch (effect.type) {
    case "model": {
      const { turn, maxTurns, messageCount, tools, chain, notes } = effect;
      return [{ type: "turn_start", turn, maxTurns, messageCount, tools, chain, notes }];
    }
    case "tool": {
      const { callId, name, input, attempt } = effect;
      return [{ type: "tool_call_start", id: callId, name, arguments: input, attempt }];
    }
    case "summary":
      return [{ type: "compaction_start", number: effect.number, until: effect.until }];
    // Without side effects: simply repeated after a crash.
    case "shorten":
    case "turn_summary":
    case "note":
      return [];
  }
}

/** Returns the error of a failed step. */
export function findFailure(facts: readonly FactBody[]): ErrorData | undefined {
  for (const fact of facts) {
    if (fact.type === "model_failed") return fact.error;
    if (fact.type === "tool_call_result" && fact.status === "error") return fact.error;
  }
  return undefined;
}
