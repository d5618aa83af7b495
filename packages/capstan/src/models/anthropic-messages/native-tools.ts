import type { ToolSpec } from "../../kernel/model.ts";
import { stringify } from "./content.ts";

/** Claude 4 and later know the tool. Servers that are only compatible have other models. */
const knowingModels = /^claude-(?!3)/;

/**
 * Returns the API's own definition of a tool, which has no description and no schema: the model is trained on it.
 * Undefined if the model gets an ordinary tool. `model` is undefined for a cloud, which may lack the tool.
 */
export function serializeNativeTool(
  { native, name, defer }: ToolSpec,
  model: string | undefined,
): string | undefined {
  if (native !== "memory" || name !== "memory" || !knowingModels.test(model ?? "")) return undefined;
  return stringify({ type: "memory_20250818", name, ...(defer && { defer_loading: true }) });
}
