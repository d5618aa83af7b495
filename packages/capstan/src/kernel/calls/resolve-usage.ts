import { isFreeModel } from "../../base/usage.ts";
import type { FactBody } from "../event.ts";
import type { Entry } from "../history.ts";
import type { Usage } from "../model.ts";
import type { State } from "../state.ts";
import type { MessageBuilder } from "./message-builder.ts";

const charactersPerToken = 4;
const maxPlausibleTokens = 1e9;

/**
 * Returns the provider's usage, or an estimate if it reports none or an implausible one, so that budgets always count. A
 * cost limit that cannot count the call is reported.
 */
export function resolveUsage(
  message: MessageBuilder,
  state: State,
  modelId: string,
): { usage: Usage; warnings: readonly FactBody[] } {
  const { usage, warnings } = findUsage(message, state);
  if (!isUncounted(usage, state, modelId)) return { usage, warnings };
  const price = state.run?.warned.has("price_unknown") ? [] : [createPriceWarning(modelId)];
  return { usage: { ...usage, unpriced: true }, warnings: [...warnings, ...price] };
}

function findUsage(message: MessageBuilder, state: State): { usage: Usage; warnings: readonly FactBody[] } {
  const reported = findReportedUsage(message);
  if (reported) return { usage: reported, warnings: [] };
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

/** Whether the run limits its cost, and the cost of this call is not known. */
function isUncounted({ cost, unpriced }: Usage, { run }: State, modelId: string): boolean {
  if (typeof run?.policy.budget.cost !== "number") return false;
  return unpriced === true || (cost === undefined && !isFreeModel(modelId));
}

function createPriceWarning(modelId: string): FactBody {
  const message =
    `The cost limit of this run does not count the calls of "${modelId}", because their price is unknown. ` +
    `Pass \`prices: { "${modelId}": { input, output } }\` to the model, or use \`setModelTable\`. ` +
    "Limits of tokens, turns and seconds do count them.";
  return { type: "warning", code: "price_unknown", message };
}

/** Returns the usage if the provider reported plausible figures. */
export function findReportedUsage({ usage }: MessageBuilder): Usage | undefined {
  return usage && isUsable(usage) ? usage : undefined;
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
