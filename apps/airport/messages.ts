import { type Entry, getText, type Json, type ResultEntry, toPlainText } from "capstan";

export type ToolCall = { readonly name: string; readonly args: { readonly [key: string]: Json } };
export type ToolResult = { readonly name: string; readonly result: Json; readonly error?: string };

/** A history told in four kinds of messages: what was asked and answered, what was called and what came of it. */
export type Message =
  | { readonly role: "user"; readonly type: "user_input"; readonly content: string }
  | { readonly role: "assistant"; readonly type: "assistant_response"; readonly content: string }
  | { readonly role: "assistant"; readonly type: "tool_calls"; readonly content: readonly ToolCall[] }
  | { readonly role: "user"; readonly type: "tool_results"; readonly content: readonly ToolResult[] };

/** The results of one turn are one message, in the order of its calls. */
export function messagesOf(history: readonly Entry[]): Message[] {
  const messages: Message[] = [];
  for (const entry of history) {
    const last = messages.at(-1);
    if (entry.type === "result" && last?.type === "tool_results")
      messages[messages.length - 1] = { ...last, content: [...last.content, resultOf(entry)] };
    else messages.push(...messagesFor(entry));
  }
  return messages;
}

function messagesFor(entry: Entry): Message[] {
  switch (entry.type) {
    case "user":
      return [{ role: "user", type: "user_input", content: toPlainText(entry.content) }];
    case "result":
      return [{ role: "user", type: "tool_results", content: [resultOf(entry)] }];
    case "assistant": {
      const calls = entry.parts.filter((part) => part.type === "call");
      const content = calls.map(({ name, input }) => ({ name, args: input }));
      const text = getText(entry);
      // What a model says beside its calls is said before they are made.
      return [
        ...(text === "" ? [] : [{ role: "assistant", type: "assistant_response", content: text } as const]),
        ...(content.length === 0 ? [] : [{ role: "assistant", type: "tool_calls", content } as const]),
      ];
    }
    case "summary":
      return [{ role: "user", type: "user_input", content: entry.text }];
  }
}

function resultOf({ name, status, data, content, error }: ResultEntry): ToolResult {
  if (status === "ok") return { name, result: data ?? toPlainText(content) };
  return { name, result: null, error: error?.message ?? toPlainText(content) };
}
