import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import {
  type Adapter,
  apiKey,
  type BenchTool,
  instructions,
  modelName,
  type Outcome,
} from "../../adapter.ts";

export const adapter: Adapter = {
  wires: ["chat"],
  connect({ baseUrl: baseURL, maxTurns, tool: { name, description, parameters, execute } }) {
    const model = createOpenAI({ baseURL, apiKey }).chat(modelName);
    const inputSchema = jsonSchema<Parameters<BenchTool["execute"]>[0]>({
      ...parameters,
      required: [...parameters.required],
    });
    const tools = { [name]: tool({ description, inputSchema, execute }) };
    const stopWhen = isStepCount(maxTurns);
    return async (prompt, hear) => {
      let outcome: Outcome | undefined;
      let failure: unknown = new Error("The run ended without an outcome.");
      const { stream } = streamText({
        model,
        instructions,
        prompt,
        tools,
        stopWhen,
        maxRetries: 0,
        // Not from `result.steps`: that reads the whole stream for a second time.
        onEnd: ({ text, steps }) => {
          outcome = { text, turns: steps.length };
        },
        // Errors are not thrown while streaming. Without this they are written to the console.
        onError: ({ error }) => {
          failure = error;
        },
      });
      // Cheaper than `textStream`, which is this stream with two more behind it.
      for await (const part of stream) if (part.type === "text-delta") hear(part.text);
      if (!outcome) throw failure;
      return outcome;
    };
  },
};
