import type { Answer } from "./script.ts";
import { encodeData } from "./server-sent-events.ts";

const encodeChunk = (parts: readonly object[], n: number, finishReason?: string): string =>
  encodeData({
    candidates: [{ content: { parts, role: "model" }, ...(finishReason && { finishReason }), index: 0 }],
    usageMetadata: { promptTokenCount: 120, candidatesTokenCount: n, totalTokenCount: 120 + n },
    modelVersion: "gemini-2.5-flash",
    responseId: "5Xb2aK7xLq2cnvgP0oG4sAw",
  });

/** Gemini's `streamGenerateContent`. Calls are not split, as in the real API. */
export function encodeGemini(answer: Answer): string[] {
  if (!("calls" in answer))
    return [
      ...answer.text.map((text, n) => encodeChunk([{ text }], n)),
      encodeChunk([{ text: "" }], answer.text.length, "STOP"),
    ];
  const parts = answer.calls.map(({ name, fragments }) => ({
    functionCall: { name, args: JSON.parse(fragments.join("")) },
  }));
  return [encodeChunk(parts, 40), encodeChunk([{ text: "" }], 40, "STOP")];
}
