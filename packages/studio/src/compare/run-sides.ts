import type { Fact, Json } from "capstan";
import { flattenContent } from "../inspector/format-facts.ts";

export type SideCall = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly status: string;
  readonly result: string;
};

/** Text and calls of a turn. */
export type SideTurn = { readonly text: string; readonly calls: readonly SideCall[] };

/** Returns the turns of a run by number. */
export function collectTurns(facts: readonly Fact[], runId: string): ReadonlyMap<number, SideTurn> {
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
      const index = calls.findIndex(({ id }) => id === fact.id);
      const call = calls[index];
      if (call) calls[index] = { ...call, status: fact.status, result: flattenContent(fact.result) };
    }
  }
  return turns;
}

/** A line, and whether it differs from the other side. */
export type MarkedLine = { readonly line: string; readonly isChanged: boolean };

type Change = { readonly type: "same" | "left" | "right"; readonly line: string };

/** Returns the lines of one side of a comparison. */
export function getSideLines(changes: readonly Change[], side: "left" | "right"): readonly MarkedLine[] {
  return changes
    .filter(({ type }) => type === "same" || type === side)
    .map(({ type, line }) => ({ line, isChanged: type === side }));
}

/** Marks the lines that the other text does not contain. */
export function markChangedLines(text: string, other: string | undefined): readonly MarkedLine[] {
  const otherLines = other === undefined ? undefined : new Set(other.split("\n"));
  return text
    .split("\n")
    .map((line) => ({ line, isChanged: otherLines !== undefined && !otherLines.has(line) }));
}
