import { type Entry, type Model, toPlainText } from "capstan";
import { offline } from "capstan/models/offline";

/** The offline model, but for questions that have a model of their own: for what it would never do by itself. */
export function offlineExcept(models: Readonly<Record<string, Model>>): Model {
  const usual = offline();
  return {
    id: usual.id,
    stream: (request, options) => (models[questionIn(request.history)] ?? usual).stream(request, options),
  };
}

/** The newest one. In the text dialect results are said as if by the user. */
function questionIn(history: readonly Entry[]): string {
  const said = history.flatMap((entry) => (entry.type === "user" ? [toPlainText(entry.content)] : []));
  return said.findLast((text) => !text.startsWith("TOOL_RESULT")) ?? "";
}
