import { toCanonicalJson, type Entry, getCalls, getText, type ModelRequest } from "capstan";
import { type Continued, correctionIn } from "./correction.ts";
import type { Input } from "./fill-arguments.ts";
import { asksForRest, halfSaid, wholeSaid } from "./half-said.ts";
import { isHarmless } from "./harmless.ts";
import { knownResults } from "./known-results.ts";
import { isSure } from "./match-tool.ts";
import type { Property } from "./properties.ts";
import { isAddress, readValue } from "./read-value.ts";
import type { Scene } from "./resolve-reference.ts";
import { isNonsense, onlyPointsOn, saidAnew } from "./said-anew.ts";
import { substitutes } from "./substitute.ts";
import { takesAway } from "./taking-away.ts";
import { fill, lastSaid, sameAgain, type Wish, wishesIn } from "./understand.ts";
import { wayBack } from "./way-back.ts";
import { joined, type Word, wordsOf } from "./words.ts";

/** What a person wants now, with what they said before counted in: the full sentence, and answers to our questions. */
export type Meaning = {
  readonly text: string;
  readonly wishes: readonly Wish[];
  readonly hints: readonly (readonly Word[])[];
};

type Talk = Pick<ModelRequest, "history" | "tools">;

const deepest = 3;

/** What the last sentence means. It may go on from the one before, or answer a question of ours. */
export function meaningOf(talk: Talk, depth = 0): Meaning {
  const { history, tools } = talk;
  const { text, at } = lastSaid(history);
  const own: Meaning = { text, wishes: wishesIn(text, tools), hints: [] };
  const before = history.slice(0, Math.max(0, at));
  // What is to be taken away is said in full: it never goes on from something else.
  if (takesAway(wordsOf(text))) return own;
  if (depth > deepest || lastSaid(before).at < 0 || own.wishes.some(({ match }) => isSure(match))) return own;
  const whole = completed(text, before, tools);
  if (whole) return whole;
  const more = correctionIn(text) ?? continuation(text);
  if (more !== undefined) {
    const rest = more.fresh;
    const fresh: Meaning = { text: rest, wishes: wishesIn(rest, tools), hints: [] };
    if (takesAway(wordsOf(rest)) || fresh.wishes.some(({ match }) => isSure(match))) return fresh;
    const previous = meaningOf({ history: before, tools }, depth + 1);
    const said = goneOn(more, previous, { history: before, tools });
    return said ?? (onlyPointsOn(rest) || more.isCorrection ? { text, wishes: [], hints: [] } : fresh);
  }
  if (!isReply(text, before)) return own;
  return answered(text, meaningOf({ history: before, tools }, depth + 1), { history: before, tools }) ?? own;
}

/** The reply to our question for what a sentence lacked. */
function completed(reply: string, before: Talk["history"], tools: Talk["tools"]): Meaning | undefined {
  const asked = before.at(-1);
  if (asked?.type !== "assistant" || !asksForRest(getText(asked))) return undefined;
  const half = halfSaid(wordsOf(lastSaid(before).text), tools);
  const text = half === undefined ? undefined : wholeSaid(half, reply);
  return text === undefined ? undefined : { text, wishes: wishesIn(text, tools), hints: [] };
}

/** What is known at this point of a conversation. */
export const sceneOf = (history: readonly Entry[], hints: Meaning["hints"]): Scene => ({
  results: knownResults(history),
  runFrom: lastSaid(history).at,
  hints,
});

/** "What about the boats?", "and the trains?", "yes, the blue ones": the part that is new. */
function continuation(text: string): Continued | undefined {
  const found =
    /^\s*(?:and\s+|but\s+|so\s+|ok(?:ay)?,?\s+)?(?:what|how)\s+about\s+(?<new>.+)$/isu.exec(text) ??
    /^\s*(?:yes|yeah|yep|sure|ok|okay|no)\b[\s,.!:;-]*(?<new>\S.*)$/isu.exec(text) ??
    /^\s*(?:and|now|then|or|but)\s+(?<new>.+)$/isu.exec(text) ??
    /^\s*(?<new>(?:without|with|in|on|near|from|to|via|at)\s.{1,40})$/isu.exec(text);
  const fresh = found?.groups?.new;
  return fresh === undefined ? undefined : { fresh };
}

/** A few words after a question of ours. */
function isReply(text: string, before: readonly Entry[]): boolean {
  const last = before.at(-1);
  return last?.type === "assistant" && getText(last).includes("?") && wordsOf(text).length <= 6;
}

/** A reply says which of several was meant, what was missing, or what to take instead. */
function answered(text: string, previous: Meaning, talk: Talk): Meaning | undefined {
  const scene = sceneOf(talk.history, previous.hints);
  for (const [index, wish] of previous.wishes.entries()) {
    const { missing, open } = fill(wish, scene);
    if (open.some(({ resolution }) => resolution.type === "unclear"))
      return { ...previous, hints: [wordsOf(text), ...previous.hints] };
    const said = missing.some(({ isReference }) => isReference) ? saidOn(text, previous, talk) : undefined;
    if (said) return said;
    const given = valuesIn(text, missing);
    if (Object.keys(given).length > 0)
      return {
        ...previous,
        wishes: previous.wishes.with(index, { ...wish, given: { ...wish.given, ...given } }),
      };
  }
  return goneOn({ fresh: text }, previous, talk);
}

/** "Open a letter" and "7" are "open a letter 7", where an example is said so. */
function saidOn(reply: string, previous: Meaning, { tools }: Talk): Meaning | undefined {
  const text = `${previous.text.replace(/[.!?\s]+$/u, "")} ${reply}`;
  const wishes = wishesIn(text, tools);
  const isSame = wishes.every(
    ({ match }, at) => isSure(match) && match.tool === previous.wishes[at]?.match.tool,
  );
  return isSame && wishes.length > 0 ? { ...previous, text, wishes } : undefined;
}

/** How well the examples fit: new words must not make a sentence that fits much worse. */
const closenessOf = (wishes: readonly Wish[]): number =>
  Math.min(...wishes.map(({ match }) => match.example?.closeness ?? 0));

/** What a reply gives of what is missing: "7 pages" is a number and a text. */
function valuesIn(text: string, missing: readonly Property[]): Input {
  let rest = text.trim().replace(/[.!?]+$/u, "");
  const given: Record<string, Input[string]> = {};
  for (const property of missing.toSorted((left, right) => rank(left) - rank(right))) {
    const value = rest === "" || property.isReference ? undefined : readValue(rest, property);
    if (value === undefined) continue;
    given[property.name] = value;
    rest = property.type === "number" ? rest.replace(String(value), "").trim() : "";
  }
  return given;
}

/** Numbers first: any text is a text. */
const rank = ({ type }: Property): number => (type === "number" ? 0 : 1);

/** Entries in which a call may have been made already. */
const mostPast = 100;

function callsBefore(history: readonly Entry[]): ReadonlySet<string> {
  const past = history
    .slice(-mostPast)
    .flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []));
  return new Set(past.map(({ name, input }) => toCanonicalJson([name, input])));
}

/** The previous sentence with the new words in the place of some of its own, where that makes sense. */
function goneOn(more: Continued, previous: Meaning, { history, tools }: Talk): Meaning | undefined {
  const { fresh } = more;
  const { hints } = previous;
  const done = callsBefore(history);
  const scene = sceneOf(history, hints);
  const back = wayBack(fresh, previous);
  if (back !== undefined) return { text: back, wishes: wishesIn(back, tools), hints };
  const [only, ...others] = previous.wishes;
  const again = only && others.length === 0 ? sameAgain(only, wordsOf(fresh), tools) : undefined;
  if (again && fill(again, scene).missing.length === 0 && !isNonsense(again, fresh, scene))
    return { text: joined(again.words), wishes: [again], hints };
  const addresses = wordsOf(fresh).flatMap(({ raw }) => (isAddress(raw) ? raw : []));
  const anew = saidAnew(previous.text, fresh);
  let second: Meaning | undefined;
  for (const text of [...(anew === undefined ? [] : [anew]), ...substitutes(previous, more)]) {
    // What was done for the sentence before is not done again.
    const wishes = wishesIn(text, tools).filter((wish) => {
      const { input, missing } = fill(wish, scene);
      // "And b.txt with hello" is never about the file that was named before.
      const isNamed = addresses.every((address) => Object.values(input).includes(address));
      const isDone = done.has(toCanonicalJson([wish.match.tool.name, input]));
      return missing.length === 0 && isNamed && !isDone && !isNonsense(wish, fresh, scene);
    });
    if (wishes.length === 0 || closenessOf(wishes) < closenessOf(previous.wishes) - 1) continue;
    const meaning = { text, wishes, hints };
    if (text === anew || wishes.some(({ match }) => isSure(match))) return meaning;
    // A guess may look something up; it changes and shows nothing.
    if (!onlyPointsOn(fresh) && wishes.every(({ match }) => isHarmless(match.tool, tools)))
      second ??= meaning;
  }
  return second;
}
