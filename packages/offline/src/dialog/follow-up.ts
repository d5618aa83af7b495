import { type Entry, getCalls, getText, type ModelRequest, toCanonicalJson } from "capstan";
import { isAddress } from "../language/read-value.ts";
import { isRemoval } from "../language/removal.ts";
import { joinWords, tokenize } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import {
  completeSentence,
  findPartialExample,
  hasReplyPrefix,
  isCompletionQuestion,
} from "../matching/partial-example.ts";
import { isReadOnly } from "../matching/score-tool.ts";
import { collectResults } from "./collect-results.ts";
import { type Interpretation, interpretAlone, interpretFilter } from "./interpretation.ts";
import { listSubstitutions } from "./list-substitutions.ts";
import {
  extractValues,
  type FollowUp,
  isShortReply,
  parseContinuation,
  parseCorrection,
  reverseDirections,
} from "./parse-follow-up.ts";
import { fillIntent, getLastUtterance, type Intent, parseIntents, repeatIntent } from "./parse-intents.ts";
import { refineSearch } from "./refine-search.ts";
import { isBareFollowUp, isImplausible, replaceParts } from "./replace-parts.ts";
import type { DialogContext } from "./resolve-reference.ts";

type DialogInput = Pick<ModelRequest, "history" | "tools">;

const maxDepth = 3;

/** Interprets the last utterance, which may follow up on an earlier one or reply to a question. */
export function interpret(input: DialogInput, depth = 0): Interpretation {
  const { history, tools } = input;
  const { text, index: at } = getLastUtterance(history);
  const before = history.slice(0, Math.max(0, at));
  const standalone = interpretAlone(text, tools);
  // A removal must be stated in full; it is never inferred from a follow-up.
  if (isRemoval(tokenize(text))) return standalone;
  if (depth > maxDepth || getLastUtterance(before).index < 0) return standalone;
  const isComplete = standalone.intents.some(({ match }) => hasTemplateMatch(match));
  const completion =
    !isComplete || hasReplyPrefix(text) ? completePartialExample(text, before, tools) : undefined;
  if (completion || isComplete) return completion ?? standalone;
  const filtered = interpretFilter(text, tools) ?? refineSearch(text, before, tools);
  if (filtered) return filtered;
  const followUp = parseCorrection(text) ?? parseContinuation(text);
  if (followUp !== undefined) {
    const addition = followUp.addition;
    const freshInterpretation = interpretAlone(addition, tools);
    if (
      isRemoval(tokenize(addition)) ||
      freshInterpretation.intents.some(({ match }) => hasTemplateMatch(match))
    )
      return freshInterpretation;
    const previous = interpret({ history: before, tools }, depth + 1);
    const continued = applyFollowUp(followUp, previous, { history: before, tools });
    return (
      continued ??
      (isBareFollowUp(addition) || followUp.isCorrection
        ? { text, intents: [], hints: [] }
        : freshInterpretation)
    );
  }
  if (!isShortReply(text, before)) return standalone;
  return (
    applyReply(text, interpret({ history: before, tools }, depth + 1), { history: before, tools }) ??
    standalone
  );
}

/** Completes a partial example with the user's reply. */
function completePartialExample(
  reply: string,
  before: DialogInput["history"],
  tools: DialogInput["tools"],
): Interpretation | undefined {
  const asked = before.at(-1);
  if (asked?.type !== "assistant" || !isCompletionQuestion(getText(asked))) return undefined;
  const half = findPartialExample(tokenize(getLastUtterance(before).text), tools);
  const text = half === undefined ? undefined : completeSentence(half, reply);
  return text === undefined ? undefined : { text, intents: parseIntents(text, tools), hints: [] };
}

export const createDialogContext = (
  history: readonly Entry[],
  hints: Interpretation["hints"],
): DialogContext => ({
  results: collectResults(history),
  runStart: getLastUtterance(history).index,
  hints,
});

/** Applies a reply that picks one of several candidates, gives a missing value, or replaces a value. */
function applyReply(text: string, previous: Interpretation, input: DialogInput): Interpretation | undefined {
  const context = createDialogContext(input.history, previous.hints);
  for (const [index, wish] of previous.intents.entries()) {
    const { missing, open } = fillIntent(wish, context);
    if (open.some(({ resolution }) => resolution.type === "unclear"))
      return { ...previous, hints: [tokenize(text), ...previous.hints] };
    const appended = missing.some(({ isReference }) => isReference)
      ? appendReply(text, previous, input)
      : undefined;
    if (appended) return appended;
    const answers = extractValues(text, missing);
    if (Object.keys(answers).length > 0)
      return {
        ...previous,
        intents: previous.intents.with(index, { ...wish, answers: { ...wish.answers, ...answers } }),
      };
  }
  return applyFollowUp({ addition: text }, previous, input);
}

/**
 * Appends a reply to the previous sentence if the result matches an example: "open a letter" and "7" become "open a
 * letter 7".
 */
function appendReply(
  reply: string,
  previous: Interpretation,
  { tools }: DialogInput,
): Interpretation | undefined {
  const text = `${previous.text.replace(/[.!?\s]+$/u, "")} ${reply}`;
  const intents = parseIntents(text, tools);
  const isSame = intents.every(
    ({ match }, at) => hasTemplateMatch(match) && match.tool === previous.intents[at]?.match.tool,
  );
  return isSame && intents.length > 0 ? { ...previous, text, intents } : undefined;
}

/**
 * The worst closeness of the intents' examples. A follow-up must not match much worse than the sentence it modifies.
 */
const computeCloseness = (intents: readonly Intent[]): number =>
  Math.min(...intents.map(({ match }) => match.example?.closeness ?? 0));

/** Limits how far back calls are compared. */
const maxPastEntries = 100;

function collectPastCalls(history: readonly Entry[]): ReadonlySet<string> {
  const past = history
    .slice(-maxPastEntries)
    .flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
  return new Set(past.map(({ name, input }) => toCanonicalJson([name, input])));
}

/** Applies a follow-up to the previous sentence: reverses directions, repeats the intent, or substitutes words. */
function applyFollowUp(
  followUp: FollowUp,
  previous: Interpretation,
  { history, tools }: DialogInput,
): Interpretation | undefined {
  const { addition } = followUp;
  const { hints } = previous;
  const done = collectPastCalls(history);
  const context = createDialogContext(history, hints);
  const reversed = reverseDirections(addition, previous);
  if (reversed !== undefined) return { text: reversed, intents: parseIntents(reversed, tools), hints };
  const [only, ...others] = previous.intents;
  const repeated = only && others.length === 0 ? repeatIntent(only, tokenize(addition), tools) : undefined;
  if (
    repeated &&
    fillIntent(repeated, context).missing.length === 0 &&
    !isImplausible(repeated, addition, context)
  )
    return { text: joinWords(repeated.words), intents: [repeated], hints };
  const addresses = tokenize(addition).flatMap(({ raw }) => (isAddress(raw) ? raw : []));
  const replaced = replaceParts(previous.text, addition);
  let fallback: Interpretation | undefined;
  for (const text of [
    ...(replaced === undefined ? [] : [replaced]),
    ...listSubstitutions(previous, followUp),
  ]) {
    // Do not repeat calls that were made for the previous sentence.
    const intents = parseIntents(text, tools).filter((wish) => {
      const { input, missing } = fillIntent(wish, context);
      // "And b.txt with hello" must not apply to the file named before.
      const isNamed = addresses.every((address) => Object.values(input).includes(address));
      const isDone = done.has(toCanonicalJson([wish.match.tool.name, input]));
      return missing.length === 0 && isNamed && !isDone && !isImplausible(wish, addition, context);
    });
    if (intents.length === 0 || computeCloseness(intents) < computeCloseness(previous.intents) - 1) continue;
    const meaning = { text, intents, hints };
    if (text === replaced || intents.some(({ match }) => hasTemplateMatch(match))) return meaning;
    // A guess may only use tools without side effects.
    if (!isBareFollowUp(addition) && intents.every(({ match }) => isReadOnly(match.tool, tools)))
      fallback ??= meaning;
  }
  return fallback;
}
