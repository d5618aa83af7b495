import { type Entry, type Model, toPlainText } from "capstan";
import { offline } from "capstan/models/offline";

/** The offline model with overrides for some questions, to test behavior it never shows. */
export function offlineWithOverrides(models: Readonly<Record<string, Model>>): Model {
  const offlineModel = offline();
  return {
    id: offlineModel.id,
    stream: (request, options) =>
      (models[findLastQuestion(request.history)] ?? offlineModel).stream(request, options),
  };
}

/** Finds the last user text. In the text dialect, results are user messages too, or all messages are one. */
function findLastQuestion(history: readonly Entry[]): string {
  const userTexts = history.flatMap((entry) => (entry.type === "user" ? [toPlainText(entry.content)] : []));
  const last = userTexts.findLast((text) => !text.startsWith("TOOL_RESULT")) ?? "";
  if (!last.startsWith("CONVERSATION HISTORY:")) return last;
  return [...last.matchAll(/^user: (.*)$/gm)].at(-1)?.[1] ?? "";
}
