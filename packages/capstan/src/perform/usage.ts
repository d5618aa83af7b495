import type { FactBody } from "../event.ts";
import type { Entry } from "../history.ts";
import type { Usage } from "../model.ts";
import type { State } from "../state/state.ts";
import type { MessageBuilder } from "./assemble.ts";

const charactersPerToken = 4;
const maxPlausibleTokens = 1e9;

/** What the provider says it used, or an estimate when it says nothing usable: a budget never goes down. */
export function resolveUsage(
  message: MessageBuilder,
  state: State,
): { usage: Usage; warnings: readonly FactBody[] } {
  const told = message.usage;
  if (told && isUsable(told)) return { usage: told, warnings: [] };
  const usage = {
    inputTokens: Math.ceil(countHistoryCharacters(state) / charactersPerToken),
    outputTokens: Math.ceil(message.size / charactersPerToken),
    estimated: true,
  };
  if (state.run?.warned.has("usage_estimated")) return { usage, warnings: [] };
  const problem = told ? "unusable figures" : "no figures";
  const text = `The model gave ${problem} for its usage; they are estimated.`;
  return { usage, warnings: [{ type: "warning", code: "usage_estimated", message: text }] };
}

function isUsable({ inputTokens, outputTokens, cost = 0 }: Usage): boolean {
  return [inputTokens, outputTokens, cost].every(
    (figure) => Number.isFinite(figure) && figure >= 0 && figure < maxPlausibleTokens,
  );
}

/** How far each history has been measured: a history only grows, and is not measured twice. */
const measured = new WeakMap<readonly Entry[], { entries: number; characters: number }>();

function countHistoryCharacters({ history }: State): number {
  const known = measured.get(history) ?? { entries: 0, characters: 0 };
  for (const entry of history.slice(known.entries)) known.characters += JSON.stringify(entry).length;
  known.entries = history.length;
  measured.set(history, known);
  return known.characters;
}
