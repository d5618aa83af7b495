import type { ToolAnnotations } from "@modelcontextprotocol/client";
import type { Effects, Reads } from "capstan";
import type { CommonConfig } from "../config/server-config.ts";

export type Labels = {
  readonly effects: Effects;
  readonly reads: readonly Reads[];
  readonly idempotent: boolean;
  readonly needsApproval: boolean | string;
};

/**
 * Resolves the labels of a tool. Annotations of the server can only make them stricter. The user's configuration can
 * relax them; tool settings override server settings.
 */
export function resolveLabels(tool: string, annotations: ToolAnnotations, config: CommonConfig): Labels {
  const toolConfig = config.tools && Object.hasOwn(config.tools, tool) ? config.tools[tool] : undefined;
  const claims = config.trustAnnotations ? readClaims(annotations) : {};
  const defaults: Labels = {
    effects: annotations.openWorldHint === true && annotations.readOnlyHint !== true ? "send" : "state",
    reads: ["untrusted", "private"],
    idempotent: false,
    needsApproval:
      annotations.destructiveHint === true ? `The server marks "${tool}" as destructive.` : false,
  };
  return {
    effects: toolConfig?.effects ?? config.effects ?? claims.effects ?? defaults.effects,
    reads: toolConfig?.reads ?? config.reads ?? defaults.reads,
    idempotent: toolConfig?.idempotent ?? config.idempotent ?? claims.idempotent ?? defaults.idempotent,
    needsApproval: toolConfig?.needsApproval ?? config.needsApproval ?? defaults.needsApproval,
  };
}

/** Annotations that relax the labels. */
function readClaims({ readOnlyHint, idempotentHint }: ToolAnnotations): Partial<Labels> {
  return {
    ...(readOnlyHint === true && { effects: "none" as const }),
    ...(idempotentHint === true && { idempotent: true }),
  };
}
