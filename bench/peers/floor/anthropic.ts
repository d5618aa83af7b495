import { apiKey, instructions, modelName } from "../../adapter.ts";
import type { Dialect } from "./adapter.ts";

export const anthropic: Dialect<object> = {
  path: "/v1/messages",
  headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
  system: () => [],
  user: (content) => ({ role: "user", content }),
  body: (messages, { name, description, parameters }) => ({
    model: modelName,
    stream: true,
    max_tokens: 4096,
    system: instructions,
    messages,
    tools: [{ name, description, input_schema: parameters }],
  }),
  read(event, message) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      message.calls[event.index] = {
        id: event.content_block.id,
        name: event.content_block.name,
        arguments: "",
      };
    } else if (event.type === "content_block_delta") {
      const { text, partial_json } = event.delta;
      if (text) message.text += text;
      const call = message.calls[event.index];
      if (partial_json && call) call.arguments += partial_json;
      return text;
    }
    return undefined;
  },
  toEntries: ({ calls }) => [
    {
      role: "assistant",
      content: calls.map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: JSON.parse(call.arguments),
      })),
    },
  ],
  result: ({ id }, content) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content }],
  }),
};
