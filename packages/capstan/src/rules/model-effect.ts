import type { ModelEffect } from "../effect.ts";
import type { ModelChain, ToolOffer } from "../event.ts";
import type { Retry } from "../policy.ts";
import { remainingMs } from "./budget.ts";
import type { View } from "./rule.ts";
import { wantsThinking } from "./thinking.ts";

/** A whole model call, with all its bytes, takes no longer than this. */
export const longestCallMs = 600_000;

export const modelRetry: Retry = {
  maxAttempts: 3,
  baseMs: 500,
  factor: "exponential",
  maxMs: 30_000,
  jitter: 1,
};

type Turn = {
  readonly turn: number;
  readonly tools: ToolOffer;
  readonly chain: ModelChain;
  readonly notes: readonly string[];
  readonly candidate: number;
  readonly hasMoreRoom?: boolean;
  /** Room was made in the history since it was asked. */
  readonly isCompacted?: boolean;
};

export function modelEffect(
  { state, run }: View,
  { turn, tools, chain, notes, candidate, hasMoreRoom = false, isCompacted = false }: Turn,
): ModelEffect {
  return {
    type: "model",
    id: `turn.${turn}.${candidate}${hasMoreRoom ? ".more" : ""}${isCompacted ? ".compacted" : ""}`,
    agent: run.agent,
    turn,
    chain,
    candidate,
    hasMoreRoom,
    maxTurns: run.policy.maxTurns,
    messageCount: state.history.length + run.steering.length,
    tools,
    notes,
    thinking: wantsThinking(run),
    timeoutMs: longestCallMs,
    deadlineMs: remainingMs(run),
    retry: modelRetry,
  };
}
