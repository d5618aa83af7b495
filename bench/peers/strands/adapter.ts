import { Agent, type AgentResult, NullConversationManager, tool } from "@strands-agents/sdk";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { type Adapter, apiKey, type BenchTool, instructions, modelName } from "../../adapter.ts";

type Input = Parameters<BenchTool["execute"]>[0];

export const adapter: Adapter = {
  // On "chat" only the last of several calls in one turn comes through (1.19.0).
  wires: ["responses"],
  connect({ baseUrl, maxTurns, tool: { name, description, parameters, execute } }) {
    const model = new OpenAIModel({
      api: "responses",
      modelId: modelName,
      apiKey,
      clientConfig: { baseURL: baseUrl, maxRetries: 0 },
    });
    const lookup = tool({
      name,
      description,
      inputSchema: { ...parameters, required: [...parameters.required] },
      callback: (input) => execute(input as Input),
    });
    return async (prompt, hear) => {
      // One for each run: it holds the conversation and takes one question at a time.
      const agent = new Agent({
        model,
        systemPrompt: instructions,
        tools: [lookup],
        printer: false,
        retryStrategy: null,
        // The default forgets all but the last 40 messages.
        conversationManager: new NullConversationManager(),
      });
      let result: AgentResult | undefined;
      for await (const event of agent.stream(prompt, { limits: { turns: maxTurns } })) {
        if (event.type === "agentResultEvent") result = event.result;
        else if (
          event.type === "modelStreamUpdateEvent" &&
          event.event.type === "modelContentBlockDeltaEvent" &&
          event.event.delta.type === "textDelta"
        )
          hear(event.event.delta.text);
      }
      if (result?.stopReason !== "endTurn") throw new Error(`The run ended as ${result?.stopReason}.`);
      return { text: result.toString(), turns: result.metrics?.cycleCount ?? 0 };
    };
  },
};
