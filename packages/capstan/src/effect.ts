import type { ErrorData } from "./errors.ts";
import type { FactBody, ModelChain, ToolOffer } from "./event.ts";
import type { Json } from "./json.ts";
import type { Retry } from "./policy.ts";
import type { Question, Reply } from "./tool.ts";

/** Asks a model for the next message. */
export type ModelEffect = {
  readonly type: "model";
  readonly id: string;
  readonly agent: string;
  readonly turn: number;
  readonly chain: ModelChain;
  /** Which model of that chain. */
  readonly candidate: number;
  /** The answer before this did not fit: this one gets more room. */
  readonly hasMoreRoom: boolean;
  readonly maxTurns: number | "unlimited";
  readonly messageCount: number;
  readonly tools: ToolOffer;
  readonly notes: readonly string[];
  readonly thinking: boolean;
  /** For one attempt. */
  readonly timeoutMs: number;
  /** For all attempts and the waits between them. */
  readonly deadlineMs: number;
  readonly retry: Retry;
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
  /** For one attempt. */
  readonly timeoutMs: number;
  /** For all attempts and the waits between them. */
  readonly deadlineMs: number;
  readonly retry: Retry;
  /** Why the call cannot run; it is answered with this. */
  readonly refused?: ErrorData;
  /** Not asked for by the model: the agent's fallback tool. */
  readonly isFallback?: boolean;
  /** Of the approval that allows this call: what was approved must be what runs. */
  readonly digest?: string;
  /** What the tool has asked in this call so far, and what people said: the call goes on from there. */
  readonly asked?: readonly { readonly question: Question; readonly digest: string; readonly reply: Reply }[];
};

/** Asks a model for a summary of the first `until` entries of the history. */
export type SummaryEffect = {
  readonly type: "summary";
  readonly id: string;
  readonly agent: string;
  /** Which compaction of the run. */
  readonly number: number;
  readonly until: number;
  /** Which model of the agent's chain for summaries. */
  readonly candidate: number;
  /** The most characters that are shown to the model, and that its summary may have. */
  readonly maxInputCharacters: number;
  readonly maxSummaryCharacters: number;
  /** For one attempt. */
  readonly timeoutMs: number;
  /** For all attempts and the waits between them. */
  readonly deadlineMs: number;
  readonly retry: Retry;
};

/** Asks a model what was done in a turn, for people to read. */
export type TurnSummaryEffect = {
  readonly type: "turn_summary";
  readonly id: string;
  readonly agent: string;
  readonly turn: number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly retry: Retry;
};

/** Says something that needs nothing from the world. */
export type NoteEffect = { readonly type: "note"; readonly id: string; readonly facts: readonly FactBody[] };

/** What to do next, as JSON. `id` follows from its place in the run, so that it is the same after a crash. */
export type Effect = ModelEffect | ToolEffect | SummaryEffect | TurnSummaryEffect | NoteEffect;

/**
 * Performs one effect: THE seam. What fails in the world becomes facts; a rejection means that the journal or
 * the engine failed, and that nothing may be concluded about the effect. Retries, time-outs, limits and
 * journals are functions from `Step` to `Step`.
 */
export type Step = (effect: Effect, signal: AbortSignal) => Promise<readonly FactBody[]>;

/** Where runs execute. `all` is handed the effects of one decision, in call order, and returns when each is done. */
export interface Engine {
  all(effects: readonly Effect[]): Promise<void>;
}

/** What is stored before the effect is performed. */
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
    // It changes nothing, and is made again after a crash.
    case "turn_summary":
    case "note":
      return [];
  }
}

/** The failure among the facts of a step, if it failed. */
export function findFailure(facts: readonly FactBody[]): ErrorData | undefined {
  for (const fact of facts) {
    if (fact.type === "model_failed") return fact.error;
    if (fact.type === "tool_call_result" && fact.status === "error") return fact.error;
  }
  return undefined;
}
