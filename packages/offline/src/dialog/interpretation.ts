import type { ToolSpec } from "capstan";
import { parseFilter } from "../language/parse-filter.ts";
import type { Word } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { type Intent, parseIntents } from "./parse-intents.ts";

/** The meaning of an utterance in its dialog: the completed sentence, its intents, and the replies to our questions. */
export type Interpretation = {
  readonly text: string;
  readonly intents: readonly Intent[];
  readonly hints: readonly (readonly Word[])[];
};

export const interpretAlone = (text: string, tools: readonly ToolSpec[]): Interpretation => ({
  text,
  intents: parseIntents(text, tools),
  hints: [],
});

/** "The big ones, at least 5 rooms" means "those with at least 5 rooms" if an example says how to find them. */
export function interpretFilter(text: string, tools: readonly ToolSpec[]): Interpretation | undefined {
  const limit = parseFilter(text)?.limit;
  const phrases = limit ? [`those with ${limit.text}`, `those ${limit.text}`] : [];
  return phrases
    .map((phrase) => interpretAlone(phrase, tools))
    .find(({ intents }) => intents.some(({ match }) => hasTemplateMatch(match)));
}
