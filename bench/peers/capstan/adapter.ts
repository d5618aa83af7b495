import { defineAgent, defineTool, type Model, run } from "capstan";
import { anthropic } from "capstan/models/anthropic";
import { gemini } from "capstan/models/gemini";
import { openai } from "capstan/models/openai";
import { memory } from "capstan/stores/memory";
import { type Adapter, apiKey, instructions, modelName, type Target } from "../../adapter.ts";

export const adapter: Adapter = {
  wires: ["chat", "responses", "anthropic", "gemini"],
  connect(target) {
    const { name, description, parameters, zodParameters, execute } = target.tool;
    const about = { name, description, effects: "none" } as const;
    const tool = zodParameters
      ? defineTool({ ...about, input: zodParameters, execute })
      : defineTool({ ...about, input: parameters, execute });
    const agent = defineAgent({
      name: "bench",
      instructions,
      model: createModel(target),
      tools: [tool],
      policy: { maxTurns: target.maxTurns },
    });
    const store = memory();
    let runs = 0;
    return async (prompt, onText) => {
      const session = `session-${runs++}`;
      const running = run(agent, prompt, { store, session });
      for await (const event of running) if (event.type === "content_delta") onText(event.delta);
      const { status, text, turns, error } = await running;
      // Finished sessions must not add to the cost of running ones.
      await store.remove(session);
      if (status !== "done") throw new Error(`The run ended as ${status}: ${error?.message}`);
      return { text, turns };
    };
  },
};

function createModel({ wire, baseUrl: baseURL }: Target): Model {
  const options = { model: modelName, apiKey, baseURL };
  switch (wire) {
    case "chat":
      return openai({ ...options, api: "chat" });
    case "responses":
      return openai(options);
    case "anthropic":
      return anthropic(options);
    case "gemini":
      return gemini(options);
  }
}
