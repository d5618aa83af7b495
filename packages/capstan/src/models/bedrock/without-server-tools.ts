import { isRecord, type Json } from "../../base/json.ts";
import type { AssistantPart } from "../../kernel/history.ts";
import { anthropicName } from "../anthropic-messages/content.ts";
import { withConvertedEntries } from "../convert-entries.ts";
import { getOwnData, type Wire } from "../wire.ts";

/**
 * Removes the blocks of tools that run at Anthropic, for a history that began there: Bedrock has no such tools and rejects
 * their calls, results and citations. The signatures of thinking are valid in both and are kept.
 */
export function withoutServerTools(wire: Wire): Wire {
  return withConvertedEntries(wire, (entry) =>
    entry.type === "assistant" && entry.parts.some(isOfServerTool)
      ? { ...entry, parts: entry.parts.flatMap(convertPart) }
      : entry,
  );
}

function isOfServerTool(part: AssistantPart): boolean {
  switch (part.type) {
    case "opaque":
      return readOwn(part.data)?.type !== "redacted_thinking";
    case "text": {
      const { citations } = readOwn(part.opaque) ?? {};
      return Array.isArray(citations) && citations.some((one) => isRecord(one) && "encrypted_index" in one);
    }
    case "call":
      return readOwn(part.opaque)?.caller !== undefined;
    case "reasoning":
    case "media":
      return false;
  }
}

/** Calls and texts are kept without the data that refers to a server tool. */
function convertPart(part: AssistantPart): readonly AssistantPart[] {
  if (!isOfServerTool(part)) return [part];
  if (part.type !== "text" && part.type !== "call") return [];
  const { opaque: _, ...rest } = part;
  return [rest];
}

function readOwn(opaque: Json | undefined): Record<string, unknown> | undefined {
  const data = getOwnData(anthropicName, opaque);
  return isRecord(data) ? data : undefined;
}
