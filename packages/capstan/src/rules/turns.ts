import type { ModelEffect } from "../effect.ts";
import type { ModelChain, ToolOffer } from "../event.ts";
import { toPlainText } from "../history.ts";
import type { RunState } from "../state/state.ts";
import { makeRoom } from "./compaction.ts";
import { isHandingOver, returnEmpty } from "./handoffs.ts";
import {
  budgetNote,
  budgetWarnings,
  isLastTurn,
  longestCallMs,
  modelRetry,
  remainingMs,
  repetitionNote,
  spentCallsNote,
  toolCallsAreSpent,
  wrapUpNote,
} from "./limits.ts";
import { type Decision, hasActed, note, type Rule, type View } from "./rule.ts";

/** Nothing stands in the way: ask the model. */
export const nextTurn: Rule = (view) => nextModelCall(view, {});

/** No turn after the last one. A specialist without an answer by then gives back to whoever waits for it. */
export const turnLimit: Rule = (view) => {
  const { run } = view;
  if (run.turn === 0 || !isLastTurn(run, run.turn)) return undefined;
  const frame = run.handoffs.at(-1);
  if (frame) return returnEmpty(view, frame);
  const message = `The limit of ${run.policy.maxTurns} ${run.policy.maxTurns === 1 ? "turn" : "turns"} was reached.`;
  return note("limit", { type: "limit_reached", code: "max_turns", message, turns: run.turn });
};

/** Asks the model, when there is room for its request; if there is not, it is asked for again after room was made. */
export function nextModelCall(
  view: View,
  wanted: { tools?: ToolOffer; notes?: readonly string[] },
): Decision {
  const room = makeRoom(view, "budget");
  if (room) return room;
  const { agent, run } = view;
  const turn = run.turn + 1;
  const tools = wanted.tools ?? offer(view, turn);
  const chain = run.round && run.round.calls.size > 0 ? "afterTools" : "main";
  const notes: string[] = [...(wanted.notes ?? [])];
  if (agent.tools.size > 0 || agent.handoffs) {
    const isSpent = tools === "withdrawn" && !isLastTurn(run, turn);
    const pressure = isSpent ? spentCallsNote : wrapUpNote(run, turn);
    for (const text of [pressure, repetitionNote(run), budgetNote(run)]) if (text) notes.push(text);
  }
  return { type: "effects", effects: [modelEffect(view, { turn, tools, chain, notes, candidate: 0 })] };
}

function offer({ agent, run }: View, turn: number): ToolOffer {
  if (isLastTurn(run, turn) && run.policy.finalTurn === "no-tools") return "withdrawn";
  if (toolCallsAreSpent(run)) return "withdrawn";
  return run.policy.requireToolFirst && agent.tools.size > 0 && !hasActed(run) ? "required" : "offered";
}

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

const deliberate =
  /\b(analy[sz]e|compare|evaluate|explain why|prove|reason|step[- ]by[- ]step|think (hard|carefully)|trade-?offs?)\b/i;
const mostRead = 2000;

/**
 * Under `auto` the model thinks when the question asks for deliberation, when somebody has just added something that does,
 * when a call of the last turn failed, and when it goes round in circles.
 */
export function wantsThinking(run: RunState): boolean {
  if (run.policy.thinking !== "auto") return run.policy.thinking === "on";
  if (isDeliberate(run.query)) return true;
  if (run.steering.some(({ content }) => isDeliberate(toPlainText(content)))) return true;
  return hasTrouble(run);
}

function isDeliberate(text: string): boolean {
  return deliberate.test(text.slice(0, mostRead));
}

function hasTrouble({ round, policy }: RunState): boolean {
  if (!round) return false;
  if (round.repeated && round.repeated.count >= policy.repetition.nudgeAt) return true;
  for (const { result } of round.calls.values()) if (result?.status === "error") return true;
  return false;
}

/** A turn ends when the model has spoken and each of its calls has a result; one that hands over gets it later. */
export const turnEnd: Rule = (view) => {
  const { run } = view;
  const { round } = run;
  if (!round?.message || round.ended) return undefined;
  if (round.unsettled > 0 && !isHandingOver(view)) return undefined;
  const { turn, usage } = round;
  return note(`end.${turn}`, { type: "turn_end", turn, usage }, ...budgetWarnings(run));
};

const longestSummaryMs = 30_000;

/** After each turn, where it is wanted, a model says for people what was done. Nothing of it goes back to the agent. */
export const turnSummary: Rule = ({ run }) => {
  const { round } = run;
  if (!run.policy.summaries || !round?.message || !round.ended || round.isSummarised) return undefined;
  const { turn } = round;
  return {
    type: "effects",
    effects: [
      {
        type: "turn_summary",
        id: `summary.${turn}`,
        agent: run.agent,
        turn,
        timeoutMs: longestSummaryMs,
        deadlineMs: Math.min(longestSummaryMs, remainingMs(run)),
        retry: { ...modelRetry, maxAttempts: 1 },
      },
    ],
  };
};
