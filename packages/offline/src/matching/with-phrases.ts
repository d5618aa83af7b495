import type { ModelRequest, ToolSpec } from "capstan";

const toolsWithPhrases = new WeakMap<ToolSpec, ToolSpec>();

/** Adds the phrases of each tool to its schema, where the matching reads them. */
export function withPhrases(request: ModelRequest): ModelRequest {
  const { tools, examples = {} } = request;
  return {
    ...request,
    tools: tools.map((tool) => {
      const phrases = examples[tool.name];
      if (!phrases) return tool;
      const known = toolsWithPhrases.get(tool) ?? { ...tool, input: { ...tool.input, examples: phrases } };
      toolsWithPhrases.set(tool, known);
      return known;
    }),
  };
}
