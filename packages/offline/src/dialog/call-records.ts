import { type CallPart, type Entry, getCalls, type ResultEntry, toCanonicalJson, toPlainText } from "capstan";
import type { Input } from "./fill-arguments.ts";
import { getLastUtterance } from "./parse-intents.ts";

/** A tool call to make. */
export type Call = { readonly name: string; readonly input: Input };

/** A call made since the last user message, with its result if there is one. */
export type CallRecord = {
  readonly call: CallPart;
  readonly result?: ResultEntry;
  /** Calls of the same turn ran in parallel, so none of them saw the results of the others. */
  readonly turn: number;
};

export function getCallRecords(history: readonly Entry[]): CallRecord[] {
  const since = history.slice(getLastUtterance(history).index + 1);
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

/** True if `later` retries `failed`: the arguments are the same except for those that the error message corrects. */
export function isCorrection(failed: CallRecord, later: CallRecord): boolean {
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

/** True if `calls` contains no call with the same name and input. */
export const isNewCall = (
  { name, input }: Call,
  calls: readonly Pick<CallPart, "name" | "input">[],
): boolean =>
  calls.every((call) => call.name !== name || toCanonicalJson(call.input) !== toCanonicalJson(input));
