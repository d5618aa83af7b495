import type { FactBody } from "../event.ts";
import type { Entry } from "../history.ts";
import type { Usage } from "../model.ts";
import type { State } from "../state.ts";
import type { Assembly } from "./assemble.ts";

const charactersPerToken = 4;
const absurd = 1e9;

/** What the provider says it used, or an estimate when it says nothing usable: a budget never goes down. */
export function usageOf(message: Assembly, state: State): { usage: Usage; warnings: readonly FactBody[] } {
  const told = message.usage;
  if (told && isUsable(told)) return { usage: told, warnings: [] };
  const characters = state.history.reduce((sum, entry) => sum + sizeOf(entry), 0);
  const usage = {
    inputTokens: Math.ceil(characters / charactersPerToken),
    outputTokens: Math.ceil(message.size / charactersPerToken),
    estimated: true,
  };
  const problem = told ? "unusable figures" : "no figures";
  return {
    usage,
    warnings: [
      {
        type: "warning",
        code: "usage_estimated",
        message: `The model gave ${problem} for its usage; they are estimated.`,
      },
    ],
  };
}

function isUsable({ inputTokens, outputTokens, cost = 0 }: Usage): boolean {
  return [inputTokens, outputTokens, cost].every(
    (figure) => Number.isFinite(figure) && figure >= 0 && figure < absurd,
  );
}

const sizes = new WeakMap<Entry, number>();

function sizeOf(entry: Entry): number {
  let size = sizes.get(entry);
  if (size === undefined) {
    size = JSON.stringify(entry).length;
    sizes.set(entry, size);
  }
  return size;
}
