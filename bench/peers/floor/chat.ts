import { apiKey, modelName } from "../../adapter.ts";
import type { Dialect } from "./adapter.ts";

export const chat: Dialect<object> = {
  path: "/chat/completions",
  headers: { authorization: `Bearer ${apiKey}` },
  system: (content) => [{ role: "system", content }],
  user: (content) => ({ role: "user", content }),
  body: (messages, { name, description, parameters }) => ({
    model: modelName,
    stream: true,
    messages,
    tools: [{ type: "function", function: { name, description, parameters } }],
  }),
  read(event, message) {
    const delta = event.choices[0]?.delta;
    if (!delta) return undefined;
    if (delta.content) message.text += delta.content;
    for (const { index, id, function: part } of delta.tool_calls ?? []) {
      message.calls[index] ??= { id, name: part.name, arguments: "" };
      const call = message.calls[index];
      call.arguments += part.arguments;
    }
    return delta.content;
  },
  toEntries: ({ text, calls }) => [
    {
      role: "assistant",
      content: text || null,
      tool_calls: calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
      })),
    },
  ],
  result: ({ id }, content) => ({ role: "tool", tool_call_id: id, content }),
};
