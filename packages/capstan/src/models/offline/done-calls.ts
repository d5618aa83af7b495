import { type CallPart, callsOf, type Entry, type ResultEntry } from "../../history.ts";
import { canonical } from "../../json.ts";
import type { Input } from "./fill-arguments.ts";
import { lastSaid } from "./understand.ts";

/** A call to make. */
export type Call = { readonly name: string; readonly input: Input };

/** What was called since the person spoke, with its results. */
export type Done = { readonly call: CallPart; readonly result?: ResultEntry };

export function doneSince(history: readonly Entry[]): Done[] {
  const since = history.slice(lastSaid(history).at + 1);
  const results = new Map(since.flatMap((entry) => (entry.type === "result" ? [[entry.callId, entry]] : [])));
  return since
    .flatMap((entry) => (entry.type === "assistant" ? callsOf(entry) : []))
    .map((call) => {
      const result = results.get(call.id);
      return { call, ...(result && { result }) };
    });
}

/** No such call has been made yet. */
export const isNew = ({ name, input }: Call, calls: readonly Pick<CallPart, "name" | "input">[]): boolean =>
  calls.every((call) => call.name !== name || canonical(call.input) !== canonical(input));
