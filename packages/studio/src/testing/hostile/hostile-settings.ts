import type { ModelSettings, ToolSpec } from "capstan";

/** Settings with hostile text wherever they take text. */
export function createSettings(text: () => string): Required<ModelSettings> {
  return {
    ...{ effort: "high", temperature: 1, topP: 1, seed: 1, maxOutputTokens: 1, cache: "short", logprobs: 1 },
    ...{ stop: [text()], toolChoice: { tool: text() }, parallelToolCalls: true, serviceTier: text() },
    extra: { [text()]: text() },
  };
}

/** The definition of a tool with hostile text. */
export function createSpec(text: () => string): Required<ToolSpec> {
  const input = { title: text() };
  return { name: text(), description: text(), input, defer: true, native: "memory" };
}
