import { isRecord, type Json } from "../../json.ts";

type Detail = Record<string, unknown>;

/** Reasoning under way: the field that it came in, and details that go back as they came. */
export type OpenReasoning = { field: string | undefined; readonly details: Detail[] };

/** What a delta says of reasoning: the text is in one of three fields, or in several of them at once. */
export function reasoningIn(delta: Record<string, unknown>): { field: string; text: string } | undefined {
  for (const field of ["reasoning_content", "reasoning", "reasoning_details"]) {
    const value = delta[field];
    if (value === undefined || value === null) continue;
    const text = textIn(value);
    if (text) return { field: typeof value === "string" ? field : "", text };
  }
  return undefined;
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).join("");
  if (!isRecord(value)) return "";
  return textIn(value.text ?? value.summary ?? value.content ?? value.thinking ?? "");
}

/** Pieces of one detail are joined, so that what goes back is what a whole answer would have had. */
export function addDetails(details: Detail[], given: readonly unknown[]): void {
  for (const piece of given) {
    if (!isRecord(piece)) continue;
    const last = details.at(-1);
    if (
      !last ||
      last.type !== piece.type ||
      last.index !== piece.index ||
      piece.type === "reasoning.encrypted"
    ) {
      details.push({ ...piece });
      continue;
    }
    for (const [key, value] of Object.entries(piece)) {
      const known = last[key];
      if (value === null || value === undefined) continue;
      const isText =
        (key === "text" || key === "summary") && typeof known === "string" && typeof value === "string";
      last[key] = isText ? known + value : value;
    }
  }
}

/** What must be known to send a block of reasoning back. */
export function reasoningData({ field, details }: OpenReasoning): Json {
  return { ...(field && { field }), ...(details.length > 0 && { details: details as unknown as Json }) };
}
