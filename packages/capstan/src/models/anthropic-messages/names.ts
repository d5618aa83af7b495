import { createToolNames, type ToolNames } from "../wire.ts";

/** Tags opaque data as Anthropic's. */
export const anthropicName = "anthropic";

/** Converts a call id to the characters that Anthropic accepts. */
export function sanitizeId(id: string): string {
  return id.replace(/[^\w-]/g, "_") || "call";
}

export const anthropicToolNames: ToolNames = createToolNames(/^[\w-]{1,64}$/, /[^\w-]/g);
