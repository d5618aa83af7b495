import type { Fact, Json } from "capstan";
import { contentLine } from "../inspector/fact-text.ts";

export type SideCall = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly status: string;
  readonly result: string;
};

/** What was said and called in a turn. */
export type SideTurn = { readonly text: string; readonly calls: readonly SideCall[] };

/** The turns of one run, by their numbers. */
export function sideTurns(facts: readonly Fact[], runId: string): ReadonlyMap<number, SideTurn> {
  const turns = new Map<number, { text: string; calls: SideCall[] }>();
  for (const fact of facts) {
    if (fact.runId !== runId) continue;
    if (fact.type === "message") {
      const { parts } = fact.entry;
      const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      const calls = parts.flatMap((part): SideCall[] =>
        part.type === "call"
          ? [{ id: part.id, name: part.name, input: part.raw ?? part.input, status: "", result: "" }]
          : [],
      );
      turns.set(fact.turn, { text, calls });
    } else if (fact.type === "tool_call_result") {
      const calls = turns.get(fact.turn)?.calls ?? [];
      const at = calls.findIndex(({ id }) => id === fact.id);
      const call = calls[at];
      if (call) calls[at] = { ...call, status: fact.status, result: contentLine(fact.result) };
    }
  }
  return turns;
}

/** A line of a text, and whether the other text has another one in its place. */
export type MarkedLine = { readonly line: string; readonly isChanged: boolean };

type Change = { readonly type: "same" | "left" | "right"; readonly line: string };

/** The lines of one side of a comparison. */
export function linesOf(changes: readonly Change[], side: "left" | "right"): readonly MarkedLine[] {
  return changes
    .filter(({ type }) => type === "same" || type === side)
    .map(({ type, line }) => ({ line, isChanged: type === side }));
}

/** The lines of a text, those marked that the other one does not have. */
export function linesUnlike(text: string, other: string | undefined): readonly MarkedLine[] {
  const known = other === undefined ? undefined : new Set(other.split("\n"));
  return text.split("\n").map((line) => ({ line, isChanged: known !== undefined && !known.has(line) }));
}
