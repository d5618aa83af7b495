import type { RunState } from "../state.ts";

export function isLastTurn({ policy }: Pick<RunState, "policy">, turn: number): boolean {
  return policy.maxTurns !== "unlimited" && turn >= policy.maxTurns;
}

/** What is added to the instructions as the limit comes near: first a request to come to an end, then a demand. */
export function wrapUpNote({ policy }: Pick<RunState, "policy">, turn: number): string | undefined {
  if (policy.maxTurns === "unlimited") return undefined;
  const left = policy.maxTurns - turn;
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
