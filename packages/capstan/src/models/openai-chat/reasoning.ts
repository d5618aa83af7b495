import { isRecord, type Json } from "../../base/json.ts";

type Detail = Record<string, unknown>;

/** Reasoning in progress: the field it arrives in, and what to send back unchanged. */
export type OpenReasoning = {
  field: string | undefined;
  /** `reasoning_details` of OpenRouter. */
  readonly details: Detail[];
  /** `thinking_blocks` of LiteLLM, with the signatures of Claude. */
  readonly blocks: Detail[];
};

export const createOpenReasoning = (): OpenReasoning => ({ field: undefined, details: [], blocks: [] });

/** Finds reasoning text in a delta: it is in one of three fields, or repeated in several of them. */
export function findReasoning(delta: Record<string, unknown>): { field: string; text: string } | undefined {
  for (const field of ["reasoning_content", "reasoning", "reasoning_details"]) {
    const value = delta[field];
    if (value === undefined || value === null) continue;
    const text = joinReasoningText(value);
    if (text) return { field: typeof value === "string" ? field : "", text };
  }
  return undefined;
}

function joinReasoningText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(joinReasoningText).join("");
  if (!isRecord(value)) return "";
  return joinReasoningText(value.text ?? value.summary ?? value.content ?? value.thinking ?? "");
}

/** Keys of texts that arrive in pieces. */
const textKeys: ReadonlySet<string> = new Set(["text", "summary", "thinking"]);

/** A signature ends a block. */
const isSigned = ({ type, signature }: Detail): boolean => type === "thinking" && Boolean(signature);

/** Joins the pieces of a detail, so that the details match a non-streamed response. */
export function addDetails(details: Detail[], pieces: readonly unknown[]): void {
  for (const piece of pieces) {
    if (!isRecord(piece)) continue;
    const last = details.at(-1);
    if (
      !last ||
      last.type !== piece.type ||
      last.index !== piece.index ||
      piece.type === "reasoning.encrypted" ||
      isSigned(last)
    ) {
      details.push({ ...piece });
      continue;
    }
    for (const [key, value] of Object.entries(piece)) {
      const known = last[key];
      if (value === null || value === undefined) continue;
      const isText = textKeys.has(key) && typeof known === "string" && typeof value === "string";
      last[key] = isText ? known + value : value;
    }
  }
}

/** Returns the data needed to send reasoning back. */
export function toReasoningData({ field, details, blocks }: OpenReasoning): Json {
  return {
    ...(field && { field }),
    ...(details.length > 0 && { details: details as unknown as Json }),
    ...(blocks.length > 0 && { blocks: blocks as unknown as Json }),
  };
}
