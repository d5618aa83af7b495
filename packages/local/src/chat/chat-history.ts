import { type Entry, type ModelRequest, type ToolSpec, toPlainText } from "capstan";
import type { ChatHistoryItem, ChatModelFunctions, ChatModelResponse } from "node-llama-cpp";
import type { ChatFormat } from "./chat-format.ts";

/** What a chat template renders. */
export type Chat = { readonly history: ChatHistoryItem[]; readonly functions?: ChatModelFunctions };

type ResponseItem = ChatModelResponse["response"][number];

/** Converts a request. The history ends with an empty answer, which the model writes. */
export function toChat(request: ModelRequest, format: ChatFormat & { readonly hasOwnCalls: boolean }): Chat {
  const { tools, instructions } = request;
  const usesTools = tools.length > 0 && request.toolChoice !== "none";
  const described = usesTools && !format.hasOwnCalls ? describeTools(tools, format) : "";
  const system = [instructions, described].filter((text) => text !== "").join("\n\n");
  const history: ChatHistoryItem[] = system === "" ? [] : [{ type: "system", text: system }];
  const results = collectResults(request.history);
  for (const entry of request.history) addEntry(history, entry, { results, format });
  if (history.at(-1)?.type !== "model") history.push({ type: "model", response: [] });
  return { history, ...(usesTools && format.hasOwnCalls && { functions: toFunctions(tools) }) };
}

type EntryContext = {
  readonly results: ReadonlyMap<string, string>;
  readonly format: ChatFormat & { readonly hasOwnCalls: boolean };
};

function addEntry(history: ChatHistoryItem[], entry: Entry, { results, format }: EntryContext): void {
  switch (entry.type) {
    case "user":
      history.push({ type: "user", text: toPlainText(entry.content) });
      return;
    case "summary":
      history.push({ type: "user", text: entry.text });
      return;
    case "result":
      // A template with its own format of calls has the result next to the call.
      if (!format.hasOwnCalls)
        history.push({
          type: "user",
          text: `<tool_response>\n${results.get(entry.callId)}\n</tool_response>`,
        });
      return;
    case "assistant": {
      const items = entry.parts.flatMap((part): ResponseItem[] => {
        if (part.type === "text") return part.text === "" ? [] : [part.text];
        if (part.type !== "call") return []; // templates omit the reasoning of earlier turns
        if (!format.hasOwnCalls) return [formatCall(part.name, part.input, format)];
        const result = results.get(part.id) ?? "";
        return [{ type: "functionCall", name: part.name, params: part.input, result }];
      });
      const last = history.at(-1);
      if (last?.type === "model") last.response.push(...items);
      else history.push({ type: "model", response: items });
    }
  }
}

function collectResults(history: readonly Entry[]): ReadonlyMap<string, string> {
  return new Map(
    history.flatMap((entry) => (entry.type === "result" ? [[entry.callId, toPlainText(entry.content)]] : [])),
  );
}

const toFunctions = (tools: readonly ToolSpec[]): ChatModelFunctions =>
  Object.fromEntries(
    tools.map(({ name, description, input }) => [name, { description, params: input as never }]),
  );

function describeTools(tools: readonly ToolSpec[], format: ChatFormat): string {
  const lines = tools.map(({ name, description, input }) =>
    JSON.stringify({ type: "function", function: { name, description, parameters: input } }),
  );
  const example = formatCall("name", { argument: "value" }, format);
  return `# Tools\n\nYou can call these functions:\n${lines.join("\n")}\n\nTo call a function, answer with:\n${example}`;
}

function formatCall(name: string, input: unknown, { call }: ChatFormat): string {
  return `${call.trigger}${call.namePrefix}${name}${call.argumentsPrefix}${JSON.stringify(input)}${call.suffix}`;
}
