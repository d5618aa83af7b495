import { type CallPart, toCanonicalJson, type Entry, getCalls, type ResultEntry, toPlainText } from "capstan";
import type { Input } from "./fill-arguments.ts";
import { lastSaid } from "./understand.ts";

/** A call to make. */
export type Call = { readonly name: string; readonly input: Input };

/** What was called since the person spoke, with its results. */
export type Done = {
  readonly call: CallPart;
  readonly result?: ResultEntry;
  /** Calls of the same turn were made side by side: none of them knew how the others ended. */
  readonly turn: number;
};

export function doneSince(history: readonly Entry[]): Done[] {
  const since = history.slice(lastSaid(history).at + 1);
  const results = new Map(since.flatMap((entry) => (entry.type === "result" ? [[entry.callId, entry]] : [])));
  return since
    .flatMap((entry, turn) =>
      entry.type === "assistant" ? getCalls(entry).map((call) => ({ call, turn })) : [],
    )
    .map(({ call, turn }) => {
      const result = results.get(call.id);
      return { call, turn, ...(result && { result }) };
    });
}

/** A later call that makes a failed one good: what it was called with is the same, but for what the error told. */
export function isCorrection(failed: Done, later: Done): boolean {
  if (failed.result?.status !== "error" || later.turn <= failed.turn) return false;
  const message = failed.result.error?.message ?? toPlainText(failed.result.content);
  const { name, input } = failed.call;
  const isKept = Object.entries(input).some(
    ([key, value]) => typeof value === "string" && later.call.input[key] === value,
  );
  const changed = Object.entries(later.call.input).filter(
    ([key, value]) => toCanonicalJson(input[key] ?? null) !== toCanonicalJson(value),
  );
  const isTold = changed.every(
    ([key, value]) =>
      input[key] === undefined || String(input[key]) === String(value) || message.includes(String(value)),
  );
  return isKept || (later.call.name === name && isTold);
}

/** No such call has been made yet. */
export const isNew = ({ name, input }: Call, calls: readonly Pick<CallPart, "name" | "input">[]): boolean =>
  calls.every((call) => call.name !== name || toCanonicalJson(call.input) !== toCanonicalJson(input));
