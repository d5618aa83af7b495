import { type CallPart, type Entry, getCalls, type Json, type ResultEntry, toPlainText } from "capstan";
import type { CallReply } from "./sandbox/protocol.ts";

/** A call of the program whose result is in the history. */
export type FinishedCall = { readonly call: CallPart; readonly reply: CallReply };

/** Lists the calls of a program so far, in the order in which it made them. In a history, every call has its result. */
export function listFinishedCalls(history: readonly Entry[]): readonly FinishedCall[] {
  const results = new Map(
    history.flatMap((entry) => (entry.type === "result" ? [[entry.callId, entry]] : [])),
  );
  const calls = history.flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
  return calls.flatMap((call) => {
    const result = results.get(call.id);
    return result ? [{ call, reply: toReply(result) }] : [];
  });
}

/** Programs process results that would be too large for a model. */
export const maxResultSize = 1_000_000;

function toReply(result: ResultEntry): CallReply {
  const { name, status, content, data, error, handle } = result;
  const text = toPlainText(content);
  if (status !== "ok") return { ok: false, code: error?.code ?? status, message: error?.message ?? text };
  if (data !== undefined) return { ok: true, value: data };
  if (handle === undefined) return { ok: true, value: text };
  // A result that was cut names the handle under which the rest is stored.
  if (text.includes(handle)) {
    const message = `The call was made, but its result is not text or has more than ${maxResultSize} characters, so the program cannot read it. Ask "${name}" for less.`;
    return { ok: false, code: "result_invalid", message };
  }
  return { ok: true, value: parseData(text) };
}

/** Data that is too large for the log is in the content alone. */
function parseData(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
