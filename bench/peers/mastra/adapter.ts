import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { type Adapter, apiKey, instructions, modelName } from "../../adapter.ts";

// An agent on its own was not seen to call home; these make sure of it.
process.env.MASTRA_TELEMETRY_DISABLED = "true";
process.env.MASTRA_OFFLINE = "true";

export const adapter: Adapter = {
  wires: ["chat"],
  connect({ baseUrl: url, maxTurns, tool: { name, description, execute } }) {
    const tool = createTool({
      id: name,
      description,
      inputSchema: z.object({ key: z.string(), note: z.string() }),
      execute: async (input) => execute(input),
    });
    const agent = new Agent({
      id: "bench",
      name: "bench",
      instructions,
      model: { id: `bench/${modelName}`, url, apiKey },
      tools: { [name]: tool },
      maxRetries: 0,
    });
    const options = { maxSteps: maxTurns, modelSettings: { maxRetries: 0 } };
    return async (prompt, hear) => {
      const output = await agent.stream(prompt, options);
      for await (const text of output.textStream) hear(text);
      if (output.error) throw output.error;
      const [text, steps] = await Promise.all([output.text, output.steps]);
      return { text, turns: steps.length };
    };
  },
};
