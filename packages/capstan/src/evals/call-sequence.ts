import { isRecord, type Json, toCanonicalJson } from "../base/json.ts";
import type { ExpectedCall } from "./eval-case.ts";
import type { MadeCall } from "./run-outcome.ts";
import type { Scorer } from "./scorer.ts";

export type CallSequenceOptions = {
  /**
   * `exact` (default): these calls, in this order, and no others. `in order`: others may come between them. `any order`:
   * all of them, and others too.
   */
  readonly match?: "exact" | "in order" | "any order";
};

/** Compares the calls of the run with the `calls` of the case. An expected input may be a part of the real one. */
export function callSequence({ match = "exact" }: CallSequenceOptions = {}): Scorer {
  return {
    name: "callSequence",
    score({ case: { calls: expected }, calls: made }) {
      if (!expected) return undefined;
      const matches = match === "any order" ? countMatches(expected, made) : countInOrder(expected, made);
      const total = match === "exact" ? Math.max(expected.length, made.length) : expected.length;
      if (matches === total) return true;
      const reason = `expected ${formatCalls(expected)}, got ${formatCalls(made)}`;
      return { value: matches / total, passed: false, reason };
    },
  };
}

/** The length of the longest common subsequence. */
function countInOrder(expected: readonly ExpectedCall[], made: readonly MadeCall[]): number {
  let row = made.map(() => 0);
  for (const call of expected) {
    let [diagonal, left] = [0, 0];
    row = row.map((above, column) => {
      const other = made[column];
      const length = other && isMatch(call, other) ? diagonal + 1 : Math.max(above, left);
      [diagonal, left] = [above, length];
      return length;
    });
  }
  return row.at(-1) ?? 0;
}

function countMatches(expected: readonly ExpectedCall[], made: readonly MadeCall[]): number {
  const open = [...made];
  let count = 0;
  for (const call of expected) {
    const index = open.findIndex((other) => isMatch(call, other));
    if (index === -1) continue;
    open.splice(index, 1);
    count++;
  }
  return count;
}

function isMatch(expected: ExpectedCall, { name, input }: MadeCall): boolean {
  if (typeof expected === "string") return expected === name;
  return expected.name === name && (expected.input === undefined || includesValue(input, expected.input));
}

/** Whether `part` is equal to the value, or has some of its fields. */
export function includesValue(value: Json | undefined, part: Json): boolean {
  if (value === undefined) return false;
  if (isRecord(part))
    return (
      isRecord(value) &&
      Object.entries(part).every(
        ([key, member]) => Object.hasOwn(value, key) && includesValue(value[key] as Json, member as Json),
      )
    );
  return toCanonicalJson(value) === toCanonicalJson(part);
}

function formatCalls(calls: readonly (ExpectedCall | MadeCall)[]): string {
  if (calls.length === 0) return "no calls";
  const formatCall = (call: ExpectedCall | MadeCall) =>
    typeof call === "string" ? call : `${call.name}(${JSON.stringify(call.input ?? {})})`;
  return calls.map(formatCall).join(", ");
}
