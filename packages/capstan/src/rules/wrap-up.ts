import type { RunState } from "../state.ts";

type Counted = Pick<RunState, "policy"> & Partial<Pick<RunState, "handoffs">>;

/** The last turn that the agent in charge may take: each agent that waits for it keeps one for its own answer. */
function lastTurn({ policy, handoffs = [] }: Counted): number {
  return policy.maxTurns === "unlimited" ? Number.POSITIVE_INFINITY : policy.maxTurns - handoffs.length;
}

export function isLastTurn(run: Counted, turn: number): boolean {
  return turn >= lastTurn(run);
}

/** What is added to the instructions as the limit comes near: first a request to come to an end, then a demand. */
export function wrapUpNote(run: Counted, turn: number): string | undefined {
  const { policy } = run;
  const left = lastTurn(run) - turn;
  if (left <= 0) return policy.finalTurn === "no-tools" ? lastTurnNote : undefined;
  if (left > policy.wrapUpAt) return undefined;
  return (
    `Note: you have ${left} ${left === 1 ? "turn" : "turns"} left. Give an answer first. ` +
    "If something is missing, ask the user rather than search again, and use what you already know."
  );
}

export const lastTurnNote: string =
  "You have no turns left and no tools. Give your final answer now from what you know. " +
  "If you cannot answer, say which information is missing.";
