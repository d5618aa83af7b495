import { ChatOpenAI } from "@langchain/openai";
import { AIMessageChunk, createAgent, tool } from "langchain";
import { type Adapter, apiKey, instructions, modelName } from "../../adapter.ts";

process.env.LANGSMITH_TRACING = "false";
// Its handlers are then called at once, not through a queue: the cheaper way, and nothing here needs the queue.
process.env.LANGCHAIN_CALLBACKS_BACKGROUND = "false";

export const adapter: Adapter = {
  wires: ["chat"],
  connect({ baseUrl: baseURL, maxTurns, tool: { name, description, parameters: schema, execute } }) {
    const agent = createAgent({
      model: new ChatOpenAI({ model: modelName, apiKey, configuration: { baseURL }, maxRetries: 0 }),
      tools: [tool((input: Parameters<typeof execute>[0]) => execute(input), { name, description, schema })],
      systemPrompt: instructions,
    });
    const options = {
      streamMode: ["messages" as const, "updates" as const],
      recursionLimit: 2 * maxTurns, // a turn is two steps of the graph: the model, then the tools
    };
    return async (prompt, hear) => {
      const stream = await agent.stream({ messages: [{ role: "user", content: prompt }] }, options);
      let text = "";
      let turns = 0;
      for await (const [mode, piece] of stream) {
        if (mode === "messages") {
          const [message] = piece;
          const said = AIMessageChunk.isInstance(message) ? message.text : "";
          if (said) hear(said);
        } else if (piece.model_request) {
          text = piece.model_request.messages.at(-1)?.text ?? "";
          turns += 1;
        }
      }
      return { text, turns };
    };
  },
};
