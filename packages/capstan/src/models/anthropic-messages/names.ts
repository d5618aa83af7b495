import { type ToolNames, toolNames } from "../wire.ts";

/** What marks opaque data as Anthropic's. */
export const anthropicName = "anthropic";

export const anthropicToolNames: ToolNames = toolNames(/^[\w-]{1,64}$/, /[^\w-]/g);
