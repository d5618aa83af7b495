import type { ToolAnnotations } from "@modelcontextprotocol/client";
import type { Effects, Reads } from "capstan";
import type { Common } from "./config.ts";

export type Labels = {
  readonly effects: Effects;
  readonly reads: readonly Reads[];
  readonly idempotent: boolean;
  readonly needsApproval: boolean | string;
};

/**
 * How far a tool of a server is trusted. A server may only make it stricter; what relaxes it is the user's configuration,
 * of the tool before that of the server.
 */
export function labelsOf(tool: string, annotations: ToolAnnotations, config: Common): Labels {
  const own = config.tools && Object.hasOwn(config.tools, tool) ? config.tools[tool] : undefined;
  const claimed = config.trustAnnotations ? claims(annotations) : {};
  const strict: Labels = {
    effects: annotations.openWorldHint === true && annotations.readOnlyHint !== true ? "send" : "state",
    reads: ["untrusted", "private"],
    idempotent: false,
    needsApproval:
      annotations.destructiveHint === true ? `Its server says that "${tool}" may destroy something.` : false,
  };
  return {
    effects: own?.effects ?? config.effects ?? claimed.effects ?? strict.effects,
    reads: own?.reads ?? config.reads ?? strict.reads,
    idempotent: own?.idempotent ?? config.idempotent ?? claimed.idempotent ?? strict.idempotent,
    needsApproval: own?.needsApproval ?? config.needsApproval ?? strict.needsApproval,
  };
}

/** What a server says in its own favour. */
function claims({ readOnlyHint, idempotentHint }: ToolAnnotations): Partial<Labels> {
  return {
    ...(readOnlyHint === true && { effects: "none" as const }),
    ...(idempotentHint === true && { idempotent: true }),
  };
}
