import { getText, type ModelRequest, type ToolSpec } from "capstan";
import { either, withDots } from "./ask-back.ts";
import { examplesOf } from "./match-template.ts";
import { exampleTakesAway } from "./taking-away.ts";

const mostSaid = 3;

type Kind = { readonly isTaking?: boolean; readonly from?: number };

/** A few sentences that one could say, one of each tool, with dots for what only the person knows. */
export function sayInstead(tools: readonly ToolSpec[], { isTaking = false, from = 0 }: Kind = {}): string {
  const said = tools.flatMap((tool) => {
    const fitting = examplesOf(tool).filter(
      (example) =>
        /[\p{L}]/u.test(example.phrase.replace(/\{[^}]*\}/gu, "")) &&
        (!isTaking || exampleTakesAway(example)),
    );
    return fitting.slice(0, 1).map(({ phrase }) => `"${withDots(phrase)}"`);
  });
  const start = said.length > mostSaid ? (from * mostSaid) % said.length : 0;
  const shown = [...said.slice(start), ...said.slice(0, start)].slice(0, mostSaid);
  return shown.length === 0 ? "" : `You could say ${either(shown)}.`;
}

/** How often it was said before that something cannot be done. */
export const refusalsIn = ({ history }: Pick<ModelRequest, "history">, opening: string): number =>
  history.filter((entry) => entry.type === "assistant" && getText(entry).startsWith(opening)).length;
