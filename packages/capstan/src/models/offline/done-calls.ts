import { type CallPart, callsOf, type Entry, type ResultEntry } from "../../history.ts";
import type { Input } from "./fill-arguments.ts";
import { lastSaid } from "./understand.ts";

/** A call to make. */
export type Call = { readonly name: string; readonly input: Input };

/** What was called since the person spoke, with its results. */
export type Done = { readonly call: CallPart; readonly result?: ResultEntry };

export function doneSince(history: readonly Entry[]): Done[] {
  const since = history.slice(lastSaid(history).at + 1);
  return since
    .flatMap((entry) => (entry.type === "assistant" ? callsOf(entry) : []))
    .map((call) => {
      const result = since.find((entry) => entry.type === "result" && entry.callId === call.id);
      return { call, ...(result?.type === "result" && { result }) };
    });
}
