import { Agent, type AgentTool } from "@mariozechner/pi-agent-core";
import { type Model, streamSimple } from "@mariozechner/pi-ai";
import { type Adapter, apiKey, instructions, modelName } from "../../adapter.ts";

export const adapter: Adapter = {
  wires: ["chat"],
  connect({ baseUrl, tool: { name, description, parameters, execute } }) {
    const model: Model<"openai-completions"> = {
      id: modelName,
      name: modelName,
      api: "openai-completions",
      provider: "bench",
      baseUrl,
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 32_000,
    };
    const tool: AgentTool<typeof parameters> = {
      name,
      label: name,
      description,
      parameters,
      execute: async (_id, input) => ({
        content: [{ type: "text", text: execute(input) }],
        details: undefined,
      }),
    };
    return async (prompt, hear) => {
      // One for each run: it holds the conversation.
      const agent = new Agent({
        initialState: { systemPrompt: instructions, model, tools: [tool] },
        getApiKey: () => apiKey,
        streamFn: (model, context, options) => streamSimple(model, context, { ...options, maxRetries: 0 }),
      });
      let turns = 0;
      agent.subscribe((event) => {
        if (event.type === "turn_end") turns++;
        else if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
          hear(event.assistantMessageEvent.delta);
      });
      await agent.prompt(prompt);
      const last = agent.state.messages.at(-1);
      if (agent.state.errorMessage || last?.role !== "assistant") throw new Error(agent.state.errorMessage);
      const text = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return { text, turns };
    };
  },
};
