import { type Entry, type ModelRequest, type ToolSpec, toPlainText } from "capstan";
import { clausesOf, wishedIn } from "./clauses.ts";
import { type Filled, fillArguments, type Input } from "./fill-arguments.ts";
import { bestTool, isSure, rankTools, type ToolMatch } from "./match-tool.ts";
import { propertiesOf } from "./properties.ts";
import { isAddress, isProseName } from "./read-value.ts";
import type { Scene } from "./resolve-reference.ts";
import { takesAway } from "./taking-away.ts";
import { isLook } from "./word-score.ts";
import { type Word, wordsOf } from "./words.ts";

/** One thing that a person asks for: the tool for it, and the words that say it. */
export type Wish = {
  readonly match: ToolMatch;
  readonly words: readonly Word[];
  /** What was said to a question for an argument. */
  readonly given: Input;
};

export type Said = { readonly text: string; readonly at: number };

const saidIn = new WeakMap<Entry, string>();

/** The last thing the person said, and where it stands. */
export function lastSaid(history: readonly Entry[]): Said {
  const at = history.findLastIndex((entry) => entry.type === "user");
  const entry = history[at];
  if (entry?.type !== "user") return { text: "", at };
  const text = saidIn.get(entry) ?? toPlainText(entry.content);
  saidIn.set(entry, text);
  return { text, at };
}

/** What a sentence asks for, one tool each, in their order. */
export function wishesIn(said: string, tools: readonly ToolSpec[]): Wish[] {
  const text = wishedIn(said);
  const all = wordsOf(text);
  const whole = bestTool(all, tools);
  // A text that is quoted or dictated may have anything in it.
  if (whole && isSure(whole) && takesRest(whole)) return [wish(whole, all)];
  // "Between A and B" is from A to B.
  const way = text.replace(/\bbetween\s+(.+?)\s+and\s+/iu, "from $1 to ");
  if (way !== text && !(whole && isSure(whole))) return wishesIn(way, tools);
  const wishes: Wish[] = [];
  let open = "";
  for (const clause of clausesOf(text)) {
    const alone = wordsOf(clause.text);
    // What is to be taken away, and no tool can, is no part of what is asked for after it.
    if (takesAway(wordsOf(open)) && isOwnWish(alone, tools)) open = "";
    const words = wordsOf(open + clause.text);
    const last = wishes.at(-1);
    const match = bestTool(words, tools);
    const again = last && !(match && isSure(match)) ? sameAgain(last, words, tools) : undefined;
    if (again) wishes.push(again);
    else if (match && (!last || isSure(match) || !match.example)) {
      wishes.push(wish(match, words));
      open = "";
    } else if (last && takesAway(alone) && !isDictated(last)) {
      open = "";
    } else if (last) {
      wishes[wishes.length - 1] = longer(last, clause.joint + clause.text, tools);
    } else open += `${clause.text} `;
  }
  return wishes;
}

function isOwnWish(words: readonly Word[], tools: readonly ToolSpec[]): boolean {
  const match = bestTool(words, tools);
  return match !== undefined && isSure(match);
}

/** A text in which a person may say anything. */
const isDictated = ({ match: { tool, example } }: Wish): boolean =>
  [...(example?.slots.keys() ?? propertiesOf(tool).map(({ name }) => name))].some(isProseName);

const wish = (match: ToolMatch, words: readonly Word[]): Wish => ({ match, words, given: {} });

/** "Make the boats blue and the trains red": what was said before the first thing counts for the second. */
export function sameAgain(last: Wish, more: readonly Word[], tools: readonly ToolSpec[]): Wish | undefined {
  const { match: first, words } = last;
  const slots = first.example?.slots ?? new Map<string, string>();
  const values = new Set(wordsOf([...slots.values()].join(" ")).map(({ stem }) => stem));
  const at = words.findIndex(({ raw, stem }) => values.has(stem) || isAddress(raw));
  if (at < 1) return undefined;
  const sentence = [...words.slice(0, at), ...more];
  const match = bestTool(sentence, tools);
  const isList = [...words.slice(at), ...more].every(({ raw }) => isAddress(raw));
  const isAlike = slots.size > 1 && (match?.example?.slots.size ?? 0) >= slots.size;
  return match && match.tool === first.tool && (isList || isAlike) ? wish(match, sentence) : undefined;
}

/** Words that name no tool of their own belong to what came before: "bread and butter". */
function longer(last: Wish, text: string, tools: readonly ToolSpec[]): Wish {
  const words = [...last.words, ...wordsOf(text)];
  const match = bestTool(words, tools);
  return { ...last, match: match && (isSure(match) || !isSure(last.match)) ? match : last.match, words };
}

/** The example has an "and" of its own. */
const takesRest = ({ example }: ToolMatch): boolean => / and /u.test(example?.phrase ?? "");

/** The arguments of a wish: what was given in answer to a question counts most. */
export function fill({ match, words, given }: Wish, scene: Scene): Filled {
  const { input, missing, open, phrases } = fillArguments(match, words, scene);
  const isGiven = (name: string) => given[name] !== undefined;
  return {
    phrases,
    input: { ...input, ...given },
    missing: missing.filter(({ name }) => !isGiven(name)),
    open: open.filter(({ property }) => !isGiven(property.name)),
  };
}

/** When a tool must be called: every tool, best first, for all that was said; to take away, none that does another deed. */
export function anyWish({ history, tools }: Pick<ModelRequest, "history" | "tools">): Wish[] {
  const words = wordsOf(lastSaid(history).text);
  const ranked = rankTools(words, tools).map((match) => wish(match, words));
  return takesAway(words) ? ranked.filter(({ match }) => isSure(match) || isLook(match.tool.name)) : ranked;
}
