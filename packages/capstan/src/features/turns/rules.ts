import {
  computeRemainingMs,
  hasSpentCalls,
  isLastTurn,
  maxCallMs,
  planModelRetry,
} from "../../kernel/budget.ts";
import type { ModelEffect } from "../../kernel/effect.ts";
import type { ModelChain, ToolOffer } from "../../kernel/event.ts";
import { toPlainText } from "../../kernel/history.ts";
import {
  type Decision,
  decideFacts,
  hasActed,
  type Rule,
  type RuleContext,
  requiresTool,
} from "../../kernel/rule.ts";
import type { RunState } from "../../kernel/state.ts";
import { compactHistory } from "../compaction/rules.ts";
import { isHandingOver, returnWithoutAnswer } from "../handoffs/rules.ts";
import {
  buildBudgetNote,
  buildBudgetWarnings,
  buildRepetitionNote,
  buildWrapUpNote,
  spentCallsNote,
} from "../limits/rules.ts";

/** Calls the model. The last rule, so it always decides. */
export const startNextTurn: Rule = (context) => callNextModel(context, {});

/** Ends the run after its last turn. A handoff target without an answer returns control to the waiting agent. */
export const stopAtTurnLimit: Rule = (context) => {
  const { run } = context;
  if (run.turn === 0 || !isLastTurn(run, run.turn)) return undefined;
  const frame = run.handoffs.at(-1);
  if (frame) return returnWithoutAnswer(context, frame);
  const message = `The limit of ${run.policy.maxTurns} ${run.policy.maxTurns === 1 ? "turn" : "turns"} was reached.`;
  return decideFacts("limit", { type: "limit_reached", code: "max_turns", message, turns: run.turn });
};

/** Calls the model, or first compacts the history if the request exceeds the context budget. */
export function callNextModel(
  context: RuleContext,
  overrides: { tools?: ToolOffer; notes?: readonly string[] },
): Decision {
  const compaction = compactHistory(context, "budget");
  if (compaction) return compaction;
  const { agent, run } = context;
  const turn = run.turn + 1;
  const tools = overrides.tools ?? chooseToolOffer(context, turn);
  const chain = run.currentTurn && run.currentTurn.calls.size > 0 ? "afterTools" : "main";
  const notes: string[] = [...(overrides.notes ?? [])];
  if (agent.tools.size > 0 || agent.handoffs) {
    const isSpent = tools === "withdrawn" && !isLastTurn(run, turn);
    const pressure = isSpent ? spentCallsNote : buildWrapUpNote(run, turn);
    for (const text of [pressure, buildRepetitionNote(run), buildBudgetNote(run)]) if (text) notes.push(text);
  }
  return {
    type: "effects",
    effects: [buildModelEffect(context, { turn, tools, chain, notes, candidate: 0 })],
  };
}

function chooseToolOffer(context: RuleContext, turn: number): ToolOffer {
  const { run } = context;
  if (isLastTurn(run, turn) && run.policy.finalTurn === "no-tools") return "withdrawn";
  if (hasSpentCalls(run)) return "withdrawn";
  return requiresTool(context) && !hasActed(run) ? "required" : "offered";
}

/** How often a message is continued, per reason to stop. */
const maxContinuations = { length: 5, pause: 10 };

/** Lists the stop reasons after which the message is continued. Data and calls are never continued. */
function listContinuable({ agent, run }: RuleContext): ModelEffect["continueAfter"] {
  const counts = run.currentTurn?.partial?.counts ?? { length: 0, pause: 0 };
  const isContinued = run.policy.onOutputLimit !== "stop" && !agent.output;
  return (["length", "pause"] as const).filter(
    (reason) => counts[reason] < maxContinuations[reason] && (reason === "pause" || isContinued),
  );
}

type TurnPlan = {
  readonly turn: number;
  readonly tools: ToolOffer;
  readonly chain: ModelChain;
  readonly notes: readonly string[];
  readonly candidate: number;
  readonly hasMoreRoom?: boolean;
  /** The history was compacted since the failed call. */
  readonly isCompacted?: boolean;
};

export function buildModelEffect(
  context: RuleContext,
  { turn, tools, chain, notes, candidate, hasMoreRoom = false, isCompacted = false }: TurnPlan,
): ModelEffect {
  const { agent, state, run } = context;
  const { length, pause } = run.currentTurn?.partial?.counts ?? { length: 0, pause: 0 };
  const suffixes = [
    length + pause > 0 && `.part${length + pause + 1}`,
    hasMoreRoom && ".more",
    isCompacted && ".compacted",
    run.waits > 0 && `.wait${run.waits}`,
  ];
  return {
    type: "model",
    id: [`turn.${turn}.${candidate}`, ...suffixes.filter((suffix) => suffix !== false)].join(""),
    agent: run.agent,
    turn,
    chain,
    candidate,
    hasMoreRoom,
    continueAfter: listContinuable(context),
    maxTurns: run.policy.maxTurns,
    messageCount: state.history.length + run.steering.length,
    tools,
    notes,
    thinking: wantsThinking(run),
    timeoutMs: maxCallMs,
    deadlineMs: computeRemainingMs(run),
    retry: planModelRetry(run, state.at, candidate + 1 < agent.models[chain].length),
  };
}

const deliberate =
  /\b(analy[sz]e|compare|evaluate|explain why|prove|reason|step[- ]by[- ]step|think (hard|carefully)|trade-?offs?)\b/i;
const maxCharactersRead = 2000;

/**
 * Under `auto`, the model reasons if the question or a steering message asks for deliberation, if a call of the last turn
 * failed, or if calls repeat.
 */
export function wantsThinking(run: RunState): boolean {
  if (run.policy.thinking !== "auto") return run.policy.thinking === "on";
  if (isDeliberate(run.query)) return true;
  if (run.steering.some(({ content }) => isDeliberate(toPlainText(content)))) return true;
  return hasTrouble(run);
}

function isDeliberate(text: string): boolean {
  return deliberate.test(text.slice(0, maxCharactersRead));
}

function hasTrouble({ currentTurn, policy }: RunState): boolean {
  if (!currentTurn) return false;
  if (currentTurn.repeated && currentTurn.repeated.count >= policy.repetition.nudgeAt) return true;
  for (const { result } of currentTurn.calls.values()) if (result?.status === "error") return true;
  return false;
}

/** Ends a turn once the model has answered and each of its calls has a result, except handoffs, which settle later. */
export const endTurn: Rule = (context) => {
  const { run } = context;
  const { currentTurn } = run;
  if (!currentTurn?.message || currentTurn.ended) return undefined;
  if (currentTurn.unsettled > 0 && !isHandingOver(context)) return undefined;
  const { turn, usage } = currentTurn;
  return decideFacts(`end.${turn}`, { type: "turn_end", turn, usage }, ...buildBudgetWarnings(run));
};

const maxSummaryMs = 30_000;

/** Generates a description of each turn for the user if the policy enables it. It is never sent back to the agent. */
export const summarizeTurn: Rule = ({ run }) => {
  const { currentTurn } = run;
  if (!run.policy.summaries || !currentTurn?.message || !currentTurn.ended || currentTurn.isSummarized)
    return undefined;
  const { turn } = currentTurn;
  return {
    type: "effects",
    effects: [
      {
        type: "turn_summary",
        id: `summary.${turn}`,
        agent: run.agent,
        turn,
        timeoutMs: maxSummaryMs,
        deadlineMs: Math.min(maxSummaryMs, computeRemainingMs(run)),
      },
    ],
  };
};
