import { Agent, OpenAIChatCompletionsModel, Runner, tool } from "@openai/agents";
import { OpenAI } from "openai";
import { type Adapter, apiKey, type BenchTool, instructions, modelName } from "../../adapter.ts";

export const adapter: Adapter = {
  wires: ["chat"],
  connect({ baseUrl: baseURL, maxTurns, tool: { name, description, parameters, execute } }) {
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const lookup = tool({
      name,
      description,
      parameters: { ...parameters, required: [...parameters.required] },
      execute: (input) => execute(input as Parameters<BenchTool["execute"]>[0]),
    });
    const agent = new Agent({
      name: "bench",
      instructions,
      model: new OpenAIChatCompletionsModel(client, modelName),
      tools: [lookup],
    });
    // Traces would be sent to OpenAI.
    const runner = new Runner({ tracingDisabled: true });
    return async (prompt, hear) => {
      const result = await runner.run(agent, prompt, { stream: true, maxTurns });
      // Cheaper than `toTextStream()`, which checks every piece against a schema in one more stream.
      for await (const event of result) {
        if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
          hear(event.data.delta);
      }
      await result.completed;
      return { text: result.finalOutput ?? "", turns: result.currentTurn };
    };
  },
};
