import { type ToolNames, toolNames } from "../wire.ts";

/** At most 64 of `[A-Za-z0-9_.:-]`, the first a letter or `_`. */
export const geminiToolNames: ToolNames = toolNames(/^[A-Za-z_][\w.:-]{0,63}$/, /[^\w.:-]/g);
