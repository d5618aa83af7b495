import { createToolNames, type ToolNames } from "../wire.ts";

/** Tags opaque data as Anthropic's. */
export const anthropicName = "anthropic";

export const anthropicToolNames: ToolNames = createToolNames(/^[\w-]{1,64}$/, /[^\w-]/g);
