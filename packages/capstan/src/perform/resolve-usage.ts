import type { FactBody } from "../event.ts";
import type { Entry } from "../history.ts";
import type { Usage } from "../model.ts";
import type { State } from "../state/state.ts";
import type { MessageBuilder } from "./message-builder.ts";

const charactersPerToken = 4;
const maxPlausibleTokens = 1e9;

/** Returns the provider's usage, or an estimate if it reports none or an implausible one, so that budgets always count. */
export function resolveUsage(
  message: MessageBuilder,
  state: State,
): { usage: Usage; warnings: readonly FactBody[] } {
  const reported = findReportedUsage(message);
  if (reported) return { usage: reported, warnings: listPriceWarnings(reported, state) };
  const usage = {
    inputTokens: Math.ceil(countHistoryCharacters(state) / charactersPerToken),
    outputTokens: Math.ceil(message.size / charactersPerToken),
    estimated: true,
  };
  if (state.run?.warned.has("usage_estimated")) return { usage, warnings: [] };
  const problem = message.usage ? "unusable" : "no";
  const text = `The model reported ${problem} usage figures; using an estimate.`;
  return { usage, warnings: [{ type: "warning", code: "usage_estimated", message: text }] };
}

/** Returns the usage if the provider reported plausible figures. */
export function findReportedUsage({ usage }: MessageBuilder): Usage | undefined {
  return usage && isUsable(usage) ? usage : undefined;
}

/** Without a price, a limit on the cost has no effect. */
function listPriceWarnings({ unpriced }: Usage, { run }: State): readonly FactBody[] {
  if (!unpriced || typeof run?.policy.budget.cost !== "number" || run.warned.has("price_unknown")) return [];
  const message =
    "The price of the model is unknown, so the cost limit of this run does not count its calls. Pass `prices` to the model, or use `setModelTable`.";
  return [{ type: "warning", code: "price_unknown", message }];
}

function isUsable({ inputTokens, outputTokens, cost = 0 }: Usage): boolean {
  return [inputTokens, outputTokens, cost].every(
    (figure) => Number.isFinite(figure) && figure >= 0 && figure < maxPlausibleTokens,
  );
}

/** How much of each history has been measured. A history only grows, so no entry is measured twice. */
const measurements = new WeakMap<readonly Entry[], { entries: number; characters: number }>();

function countHistoryCharacters({ history }: State): number {
  const progress = measurements.get(history) ?? { entries: 0, characters: 0 };
  for (const entry of history.slice(progress.entries)) progress.characters += JSON.stringify(entry).length;
  progress.entries = history.length;
  measurements.set(history, progress);
  return progress.characters;
}
