import { AgentError, type Model, suggestName } from "capstan";
import { getProvider, providers } from "capstan/models";

/** Reasoning efforts that may follow a model name: `openai/gpt-5:high`. Any other suffix is part of the name. */
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Resolves a model name from `-m` or `models`: the offline model, or `provider/model[:effort]`. */
export async function resolveModel(name: string): Promise<Model | string> {
  if (name === "offline" || name.startsWith("offline/"))
    return (await import("capstan/models/offline")).offline();
  const [provider, known] = [getProvider(name), providers.map((one) => one.name)];
  if (!name.includes("/") || !known.includes(provider)) {
    const hint = name.includes("/") ? suggestName(provider, known) : "";
    const message = `Unknown model "${name}". Use provider/model, such as openai/gpt-5-mini, or "offline".${hint} Providers: ${known.join(", ")}.`;
    throw new AgentError("model_not_found", message);
  }
  const colon = name.lastIndexOf(":");
  const effort = name.slice(colon + 1);
  return colon > 0 && efforts.includes(effort) ? withEffort(name.slice(0, colon), effort) : name;
}

async function withEffort(name: string, effort: string): Promise<Model> {
  const [provider, model] = [getProvider(name), name.slice(name.indexOf("/") + 1)];
  switch (provider) {
    case "openai": {
      const extra = { reasoning: { effort, summary: "auto" } };
      return (await import("capstan/models/openai")).openai({ model, extra });
    }
    case "anthropic":
      return (await import("capstan/models/anthropic")).anthropic({
        model,
        extra: { output_config: { effort } },
      });
    case "gemini": {
      const extra = {
        generationConfig: { thinkingConfig: { thinkingLevel: effort, includeThoughts: true } },
      };
      return (await import("capstan/models/gemini")).gemini({ model, extra });
    }
    default: {
      const message = `Models of "${provider}" do not support an effort, only those of openai, anthropic and gemini. Remove ":${effort}".`;
      throw new AgentError("invalid_input", message);
    }
  }
}
