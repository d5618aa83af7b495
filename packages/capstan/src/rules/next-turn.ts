import type { ToolOffer } from "../event.ts";
import { budgetNote, spentCallsNote, toolCallsAreSpent } from "./budget.ts";
import { makeRoom } from "./compaction.ts";
import { modelEffect } from "./model-effect.ts";
import { repetitionNote } from "./repetition.ts";
import { type Decision, hasActed, type Rule, type View } from "./rule.ts";
import { isLastTurn, wrapUpNote } from "./wrap-up.ts";

/** Nothing stands in the way: ask the model. */
export const nextTurn: Rule = (view) => nextModelCall(view, {});

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
