import { type Entry, type ModelRequest, type ToolSpec, toPlainText } from "capstan";
import { extractRequest, splitClauses, stripTrailingPhrase } from "../language/clauses.ts";
import { isAddress, isProseName } from "../language/read-value.ts";
import { isRemoval } from "../language/removal.ts";
import { tokenize, type Word } from "../language/words.ts";
import { findBestTool, hasTemplateMatch, rankTools, type ToolMatch } from "../matching/match-tool.ts";
import { getProperties } from "../matching/properties.ts";
import { isLookupName } from "../matching/score-tool.ts";
import type { CallRecord } from "./call-records.ts";
import { type FillResult, fillArguments, type Input, withCodes } from "./fill-arguments.ts";
import type { DialogContext } from "./resolve-reference.ts";

/** One request of the user: the tool that matches it and the phrase that expresses it. */
export type Intent = {
  readonly match: ToolMatch;
  readonly words: readonly Word[];
  /** Replies to questions for arguments. */
  readonly answers: Input;
};

export type Utterance = { readonly text: string; readonly index: number };

const utteranceCache = new WeakMap<Entry, string>();

/** The last user message and its index in the history. */
export function getLastUtterance(history: readonly Entry[]): Utterance {
  const index = history.findLastIndex((entry) => entry.type === "user");
  const entry = history[index];
  if (entry?.type !== "user") return { text: "", index };
  const text = utteranceCache.get(entry) ?? toPlainText(entry.content);
  utteranceCache.set(entry, text);
  return { text, index };
}

/** The intents of an utterance, in order, with one tool each. */
export function parseIntents(utterance: string, tools: readonly ToolSpec[]): Intent[] {
  const text = extractRequest(utterance);
  const words = tokenize(text);
  const wholeMatch = findBestTool(words, tools);
  // Quoted or dictated text may contain anything.
  if (wholeMatch && hasTemplateMatch(wholeMatch) && hasConjunction(wholeMatch))
    return [createIntent(wholeMatch, words)];
  if (wholeMatch && takesCodes(wholeMatch, words)) return [createIntent(wholeMatch, words)];
  const shortened = stripTrailingPhrase(text);
  if (shortened !== text && !(wholeMatch && isCloseMatch(wholeMatch))) {
    const intents = parseIntents(shortened, tools);
    if (intents.length > 0) return intents;
  }
  // "Between A and B" means from A to B.
  const rephrased = text.replace(/\bbetween\s+(.+?)\s+and\s+/iu, "from $1 to ");
  // "Ada's job" means the job of Ada.
  const owned = text.replace(/(?<=\s)(\p{Lu}[\p{L}\p{N}]*)['’]s\s+([^?.!]+)/u, "the $2 of $1");
  for (const other of wholeMatch && hasTemplateMatch(wholeMatch) ? [] : [rephrased, owned]) {
    const intents = other === text ? [] : parseIntents(other, tools);
    if (intents.some(({ match }) => hasTemplateMatch(match))) return intents;
  }
  const intents: Intent[] = [];
  let pending = "";
  for (const clause of splitClauses(text)) {
    const clauseWords = tokenize(clause.text);
    // A removal that no tool supports must not become part of the next intent.
    if (isRemoval(tokenize(pending)) && isIndependentIntent(clauseWords, tools)) pending = "";
    const words = tokenize(pending + clause.text);
    const last = intents.at(-1);
    const match = findBestTool(words, tools);
    const repeated =
      last && !(match && hasTemplateMatch(match)) ? repeatIntent(last, words, tools) : undefined;
    if (repeated) intents.push(repeated);
    else if (match && (!last || hasTemplateMatch(match) || !match.example)) {
      intents.push(createIntent(match, words));
      pending = "";
    } else if (last && isRemoval(clauseWords) && !takesFreeText(last)) {
      pending = "";
    } else if (last) {
      intents[intents.length - 1] = extendIntent(last, clause.conjunction + clause.text, tools);
    } else pending += `${clause.text} `;
  }
  return intents;
}

/** True if the sentence has the codes of all items that the tool needs. */
const takesCodes = (match: ToolMatch, words: readonly Word[]): boolean =>
  !hasTemplateMatch(match) && withCodes(match, words) !== match;

/** True if an example matches and none of its values takes a phrase at the end, as free text does. */
const isCloseMatch = (match: ToolMatch): boolean =>
  hasTemplateMatch(match) &&
  [...(match.example?.slots ?? [])].every(
    ([slot, value]) => isProseName(slot) || stripTrailingPhrase(value) === value,
  );

function isIndependentIntent(words: readonly Word[], tools: readonly ToolSpec[]): boolean {
  const match = findBestTool(words, tools);
  return match !== undefined && hasTemplateMatch(match);
}

/** True if the intent takes free text. */
const takesFreeText = ({ match: { tool, example } }: Intent): boolean =>
  [...(example?.slots.keys() ?? getProperties(tool).map(({ name }) => name))].some(isProseName);

const createIntent = (match: ToolMatch, words: readonly Word[]): Intent => ({ match, words, answers: {} });

/** Repeats an intent for new words: in "make the boats blue and the trains red" the verb applies to both. */
export function repeatIntent(
  last: Intent,
  newWords: readonly Word[],
  tools: readonly ToolSpec[],
): Intent | undefined {
  const { match: first, words } = last;
  const slots = first.example?.slots ?? new Map<string, string>();
  const values = new Set(tokenize([...slots.values()].join(" ")).map(({ stem }) => stem));
  const at = words.findIndex(({ raw, stem }) => values.has(stem) || isAddress(raw));
  if (at < 1) return undefined;
  const sentence = [...words.slice(0, at), ...newWords];
  const match = findBestTool(sentence, tools);
  const isList = [...words.slice(at), ...newWords].every(({ raw }) => isAddress(raw));
  const isAlike = slots.size > 1 && (match?.example?.slots.size ?? 0) >= slots.size;
  return match && match.tool === first.tool && (isList || isAlike)
    ? createIntent(match, sentence)
    : undefined;
}

/** Adds words that match no tool to the previous intent: "bread and butter". */
function extendIntent(last: Intent, text: string, tools: readonly ToolSpec[]): Intent {
  const words = [...last.words, ...tokenize(text)];
  const match = findBestTool(words, tools);
  return {
    ...last,
    match: match && (hasTemplateMatch(match) || !hasTemplateMatch(last.match)) ? match : last.match,
    words,
  };
}

/** True if the example itself contains "and". */
const hasConjunction = ({ example }: ToolMatch): boolean => / and /u.test(example?.phrase ?? "");

/** Fills the arguments of an intent. Replies to questions take precedence. */
export function fillIntent({ match, words, answers }: Intent, context: DialogContext): FillResult {
  const { input, missing, open, phrases } = fillArguments(match, words, context);
  const isAnswered = (name: string) => answers[name] !== undefined;
  return {
    phrases,
    input: { ...input, ...answers },
    missing: missing.filter(({ name }) => !isAnswered(name)),
    open: open.filter(({ property }) => !isAnswered(property.name)),
  };
}

/**
 * All tools as intents, best first, for requests that must call a tool. For a removal, only matching or read-only
 * tools.
 */
export function rankIntents({ history, tools }: Pick<ModelRequest, "history" | "tools">): Intent[] {
  const words = tokenize(getLastUtterance(history).text);
  const ranked = rankTools(words, tools).map((match) => createIntent(match, words));
  return isRemoval(words)
    ? ranked.filter(({ match }) => hasTemplateMatch(match) || isLookupName(match.tool.name))
    : ranked;
}

/** Lists the removals that were requested and not made: no tool matched, or the target was ambiguous. */
export function listSkippedRemovals(
  utterance: string,
  tools: readonly ToolSpec[],
  records: readonly CallRecord[],
): string[] {
  // Without tools, the purpose of a call is unknown.
  if (tools.length === 0) return [];
  const wishes = parseIntents(utterance, tools);
  const called = new Set(records.map(({ call }) => call.name));
  const isMissed = ({ words, match }: Intent) => isRemoval(words) && !called.has(match.tool.name);
  return splitClauses(extractRequest(utterance))
    .map(({ text }) => text)
    .filter((text) => {
      const words = tokenize(text);
      const own = wishes.filter((wish) =>
        words.every(({ stem }) => wish.words.some((word) => word.stem === stem)),
      );
      return isRemoval(words) && own.every(isMissed);
    });
}
