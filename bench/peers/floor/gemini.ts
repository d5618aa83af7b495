import { apiKey, instructions, modelName } from "../../adapter.ts";
import type { Dialect } from "./adapter.ts";

export const gemini: Dialect<object> = {
  path: `/v1beta/models/${modelName}:streamGenerateContent?alt=sse`,
  headers: { "x-goog-api-key": apiKey },
  system: () => [],
  user: (text) => ({ role: "user", parts: [{ text }] }),
  body: (contents, { name, description, parameters }) => ({
    systemInstruction: { parts: [{ text: instructions }] },
    contents,
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
  }),
  read(event, message) {
    let newText = "";
    for (const { text, functionCall } of event.candidates[0].content.parts) {
      if (text) newText += text;
      if (functionCall)
        message.calls.push({
          id: "",
          name: functionCall.name,
          arguments: JSON.stringify(functionCall.args),
        });
    }
    message.text += newText;
    return newText;
  },
  toEntries: ({ calls }) => [
    {
      role: "model",
      parts: calls.map((call) => ({ functionCall: { name: call.name, args: JSON.parse(call.arguments) } })),
    },
  ],
  result: ({ name }, result) => ({
    role: "user",
    parts: [{ functionResponse: { name, response: { result } } }],
  }),
};
