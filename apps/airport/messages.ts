import type { EventView } from "@capstan/server";
import { type Entry, type Event, getText, type Json, type ResultEntry, toPlainText } from "capstan";

export type ToolCall = { readonly name: string; readonly args: { readonly [key: string]: Json } };
export type ToolResult = { readonly name: string; readonly result: Json; readonly error?: string };

/** A history as four kinds of messages: input, answer, tool calls, tool results. */
export type Message =
  | { readonly role: "user"; readonly type: "user_input"; readonly content: string }
  | { readonly role: "assistant"; readonly type: "assistant_response"; readonly content: string }
  | { readonly role: "assistant"; readonly type: "tool_calls"; readonly content: readonly ToolCall[] }
  | { readonly role: "user"; readonly type: "tool_results"; readonly content: readonly ToolResult[] };

/** Merges the results of one turn into one message, in call order. */
export function toMessages(history: readonly Entry[]): Message[] {
  const messages: Message[] = [];
  for (const entry of history) {
    const last = messages.at(-1);
    if (entry.type === "result" && last?.type === "tool_results")
      messages[messages.length - 1] = { ...last, content: [...last.content, toToolResult(entry)] };
    else messages.push(...toEntryMessages(entry));
  }
  return messages;
}

function toEntryMessages(entry: Entry): Message[] {
  switch (entry.type) {
    case "user":
      return [{ role: "user", type: "user_input", content: toPlainText(entry.content) }];
    case "result":
      return [{ role: "user", type: "tool_results", content: [toToolResult(entry)] }];
    case "assistant": {
      const calls = entry.parts.filter((part) => part.type === "call");
      const content = calls.map(({ name, input }) => ({ name, args: input }));
      const text = getText(entry);
      // Text in the same response precedes the calls.
      return [
        ...(text === "" ? [] : [{ role: "assistant", type: "assistant_response", content: text } as const]),
        ...(content.length === 0 ? [] : [{ role: "assistant", type: "tool_calls", content } as const]),
      ];
    }
    case "summary":
      return [{ role: "user", type: "user_input", content: entry.text }];
  }
}

function toToolResult({ name, status, data, content, error }: ResultEntry): ToolResult {
  if (status === "ok") return { name, result: data ?? toPlainText(content) };
  return { name, result: null, error: error?.message ?? toPlainText(content) };
}

/** The history as a view, message by message, each under the name of its type: `?events=messages`. */
export const messages: EventView = {
  description: "The history as input, tool calls, tool results and answers",
  create() {
    const project = createMessageProjection();
    return (event) => project(event).map((message) => ({ event: message.type, data: message }));
  },
};

type CallResult = Extract<Event, { readonly type: "tool_call_result" }>;

/** Emits the results of a turn together, in call order, once all of them are there. Nested runs are left out. */
function createMessageProjection(): (event: Event) => readonly Message[] {
  let calls: readonly string[] = [];
  const results = new Map<string, ResultEntry>();
  let lastText = "";

  function addResult({ id, name, status, result, data, error }: CallResult): readonly Message[] {
    const details = { ...(data !== undefined && { data }), ...(error && { error }) };
    results.set(id, { type: "result", callId: id, name, status, content: result, ...details });
    const entries = calls.flatMap((call) => results.get(call) ?? []);
    return entries.length < calls.length || entries.length === 0 ? [] : toMessages(entries);
  }

  return (event) => {
    if (event.parentRunId !== undefined) return [];
    switch (event.type) {
      case "run_start":
        return toMessages(event.input.filter(({ type }) => type === "user"));
      case "steered":
        return toMessages([event.entry]);
      case "message":
        calls = event.entry.parts.flatMap((part) => (part.type === "call" ? [part.id] : []));
        results.clear();
        lastText = getText(event.entry);
        return toMessages([event.entry]);
      case "tool_call_result":
        return addResult(event);
      case "done":
        // At a limit the answer is not from the model.
        if (event.text === lastText || event.status === "failed" || event.status === "cancelled") return [];
        return [{ role: "assistant", type: "assistant_response", content: event.text }];
      default:
        return [];
    }
  };
}
