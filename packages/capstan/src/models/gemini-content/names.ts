import { createToolNames, type ToolNames } from "../wire.ts";

/** Names have at most 64 characters of `[A-Za-z0-9_.:-]` and start with a letter or `_`. */
export const geminiToolNames: ToolNames = createToolNames(/^[A-Za-z_][\w.:-]{0,63}$/, /[^\w.:-]/g);
