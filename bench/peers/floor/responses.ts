import { apiKey, modelName } from "../../adapter.ts";
import type { Dialect } from "./adapter.ts";

export const responses: Dialect<object> = {
  path: "/responses",
  headers: { authorization: `Bearer ${apiKey}` },
  system: (content) => [{ role: "system", content }],
  user: (content) => ({ role: "user", content }),
  body: (input, { name, description, parameters }) => ({
    model: modelName,
    stream: true,
    store: false,
    input,
    tools: [{ type: "function", name, description, parameters }],
  }),
  read(event, message) {
    switch (event.type) {
      case "response.output_text.delta":
        message.text += event.delta;
        return event.delta;
      case "response.output_item.added":
        if (event.item.type === "function_call")
          message.calls[event.output_index] = {
            id: event.item.call_id,
            name: event.item.name,
            arguments: "",
          };
        return undefined;
      case "response.function_call_arguments.delta": {
        const call = message.calls[event.output_index];
        if (call) call.arguments += event.delta;
      }
    }
    return undefined;
  },
  toEntries: ({ calls }) =>
    calls.map((call) => ({
      type: "function_call",
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    })),
  result: ({ id }, output) => ({ type: "function_call_output", call_id: id, output }),
};
