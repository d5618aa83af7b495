/**
 * Whether a run with this error code ended with a part of its answer. The APIs of OpenAI know only one word for that,
 * whatever the reason.
 */
export function isCut(code: string | undefined): boolean {
  return code === "output_truncated" || code === "answer_incomplete" || code === "budget_tokens";
}
