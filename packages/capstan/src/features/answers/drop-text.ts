import type { DeltaBody, FactBody } from "../../kernel/event.ts";
import { getText } from "../../kernel/history.ts";
import type { Io } from "../../kernel/io.ts";

/**
 * Calls the model for a run with `textWithCalls: "drop"`. Whether calls follow a text is known only at the end of the
 * message, so the text of an answer is emitted there, in one piece.
 */
export async function dropTextWithCalls(
  io: Io,
  callModel: (io: Io) => Promise<readonly FactBody[]>,
): Promise<readonly FactBody[]> {
  const emit = (delta: DeltaBody) => {
    if (delta.type !== "content_delta" && delta.type !== "citation") io.emit(delta);
  };
  const facts = await callModel({ ...io, emit });
  return facts.map((fact) => {
    if (fact.type !== "message") return fact;
    const { entry, citations: _, ...message } = fact;
    if (entry.parts.some(({ type }) => type === "call"))
      return { ...message, entry: { ...entry, parts: entry.parts.filter(({ type }) => type !== "text") } };
    const delta = getText(entry);
    if (delta !== "") io.emit({ type: "content_delta", delta });
    return fact;
  });
}
