import type { Answer } from "./script.ts";
import { data } from "./server-sent-events.ts";

const chunk = (parts: readonly object[], n: number, finishReason?: string): string =>
  data({
    candidates: [{ content: { parts, role: "model" }, ...(finishReason && { finishReason }), index: 0 }],
    usageMetadata: { promptTokenCount: 120, candidatesTokenCount: n, totalTokenCount: 120 + n },
    modelVersion: "gemini-2.5-flash",
    responseId: "5Xb2aK7xLq2cnvgP0oG4sAw",
  });

/** Gemini's `streamGenerateContent`. A call comes whole, as it does from Google. */
export function gemini(answer: Answer): string[] {
  if (!("calls" in answer))
    return [
      ...answer.text.map((text, n) => chunk([{ text }], n)),
      chunk([{ text: "" }], answer.text.length, "STOP"),
    ];
  const parts = answer.calls.map(({ name, fragments }) => ({
    functionCall: { name, args: JSON.parse(fragments.join("")) },
  }));
  return [chunk(parts, 40), chunk([{ text: "" }], 40, "STOP")];
}
