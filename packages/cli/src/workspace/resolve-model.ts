import { AgentError, effortLevels, type Json, type Model, suggestName } from "capstan";
import { getProvider, providers } from "capstan/models/default";

/** Efforts that may follow a model name, including one of single providers. Any other suffix is part of the name. */
const efforts: readonly string[] = [...effortLevels, "minimal"];

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
  const level = effortLevels.find((known) => known === effort);
  const build = (extra: Record<string, Json>) => ({ model, ...(level ? { effort: level } : { extra }) });
  switch (provider) {
    case "openai": {
      const { openai } = await import("capstan/models/openai");
      return openai(build({ reasoning: { effort, summary: "auto" } }));
    }
    case "anthropic": {
      const { anthropic } = await import("capstan/models/anthropic");
      return anthropic(build({ output_config: { effort } }));
    }
    case "gemini": {
      const { gemini } = await import("capstan/models/gemini");
      const thinkingConfig = { thinkingLevel: effort, includeThoughts: true };
      return gemini(build({ generationConfig: { thinkingConfig } }));
    }
    default: {
      const message = `Only openai, anthropic and gemini take an effort in the name. Remove ":${effort}" and use --effort.`;
      throw new AgentError("invalid_input", message);
    }
  }
}
