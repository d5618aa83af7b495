import { isRecord, type Json, type ToolSpec } from "capstan";
import { fillers, isFiller, isSameWord, likeness, synonym, verbs } from "./meanings.ts";
import { isNear, joined, stemOf, type Word, wordsOf } from "./words.ts";

/** An example of a tool: what a person says, with `{slots}`, and the input it means. */
export type Example = {
  readonly phrase: string;
  readonly input: { readonly [key: string]: Json };
  readonly pieces: readonly Piece[];
};

/** A word that must be said, a little word that need not be, or a place for what only this sentence has. */
export type Piece = { readonly slot: string } | { readonly stem: string; readonly isLittle: boolean };

/** What a sentence has at the places of the slots, how many words of the template it has said, and how well it fits. */
export type TemplateMatch = {
  readonly slots: ReadonlyMap<string, string>;
  readonly said: number;
  readonly closeness: number;
};

/** What may stand at the place of a slot. */
export type SlotRules = {
  readonly fits: (slot: string, value: string) => boolean;
  /** A text in which every word counts: its article too. */
  readonly isProse: (slot: string) => boolean;
  /** Of the words at the place of such a text, those that belong to it. */
  readonly dictated: (words: readonly Word[], before: Piece | undefined) => readonly Word[];
};

export function examplesOf(tool: ToolSpec): Example[] {
  const examples: unknown = Reflect.get(tool.input, "examples");
  if (!Array.isArray(examples)) return [];
  return examples.filter(isRecord).flatMap(({ phrase, input }) => {
    if (typeof phrase !== "string") return [];
    return [{ phrase, input: isRecord(input) ? (input as Example["input"]) : {}, pieces: piecesOf(phrase) }];
  });
}

const little = new Set(
  "a an the is are was were do does did i me my you your please there of some any all that it can could".split(
    " ",
  ),
);
const articles = new Set("a an the of".split(" "));

function piecesOf(phrase: string): Piece[] {
  const found = phrase.match(/\{[^}]*\}|[^\s{},.?!;:"“”]+/gu) ?? [];
  const words = found.flatMap((piece) =>
    piece.startsWith("{") ? [piece] : wordsOf(piece).map(({ raw }) => raw),
  );
  // Where nothing but little words tells a template from any sentence, they have to be said.
  const hasTopic = words.some((word) => !word.startsWith("{") && !fillers.has(stemOf(word)));
  return words.map((word) => {
    if (word.startsWith("{")) return { slot: word.slice(1, -1) };
    const stem = stemOf(word);
    return { stem, isLittle: articles.has(stem) || (hasTopic && little.has(stem)) };
  });
}

const pronouns = new Set("it them those these this that both".split(" "));

/** How well a word says what a template says: by itself, or with another word for the same thing done. */
function worthOf(piece: string, word: string): number {
  if (isNear(word, piece)) return 1;
  // "Which files" and "what files" ask the same, and "make it blue" is like "make them blue".
  if ((piece === "what" && word === "which") || (piece === "which" && word === "what")) return 1;
  if (piece === "them" && pronouns.has(word)) return 1;
  if (isSameWord(piece, word)) return 0.9;
  return verbs.has(piece) && verbs.has(word) && likeness(piece, word) === synonym ? 0.5 : 0;
}

type Matching = {
  readonly pieces: readonly Piece[];
  readonly words: readonly Word[];
  readonly rules: SlotRules;
  /** Pairs of places from which on nothing matches: without them, several slots take exponential time. */
  readonly dead: Set<number>;
};

/**
 * Whether a sentence says what a template says. Words before it and little words in between do not matter, slips of
 * the pen are forgiven, and every slot has at least one word.
 */
export function matchTemplate(
  { pieces }: Example,
  words: readonly Word[],
  rules: SlotRules,
): TemplateMatch | undefined {
  const needed = pieces.filter((piece) => "stem" in piece && !piece.isLittle);
  const isSaid = (piece: Piece) =>
    "stem" in piece &&
    words.some(
      ({ stem }) =>
        worthOf(piece.stem, stem) > 0 ||
        isThere(piece.stem, stem) ||
        (beforeText.has(piece.stem) && beforeText.has(stem)),
    );
  if (!needed.every(isSaid)) return undefined;
  const matching = { pieces, words, rules, dead: new Set<number>() };
  const lead = words.findIndex((word) => !isLead(word));
  const starts = Array.from({ length: Math.max(0, lead) + 1 }, (_, at) => at);
  // A slot at the beginning does not take "where can I" for a part of its value.
  const [first] = pieces;
  const isOpen = first !== undefined && "slot" in first && !rules.isProse(first.slot);
  for (const start of isOpen ? starts.toReversed() : starts) {
    const found = matchFrom(matching, 0, start);
    if (found) return matchOf(found, rules);
  }
  return undefined;
}

/** A value that has a preposition in it may be two values: a template with a place for both is closer. */
function matchOf({ slots, said }: Found, { isProse }: SlotRules): TemplateMatch {
  const isLoose = slots.some(([slot, value]) => !isProse(slot) && prepositions.test(value));
  // A name begins with a capital, and what does not is none.
  const misnamed = slots.filter(([slot, value]) => isNameSlot(slot) !== /^\p{Lu}/u.test(value)).length;
  return { slots: new Map(slots), said, closeness: said - (isLoose ? 1.5 : 0) - misnamed / 10 };
}

const isNameSlot = (slot: string): boolean => /name/iu.test(slot);

const prepositions = /\s(?:near|from|to|in|at|on|via|by|with|without|before|after|and|of)\s/iu;

/** "Could you please show …": what may stand before what is asked for. */
const isLead = (word: Word): boolean =>
  isFiller(word) || /^(?:now|first|next|again|quickly|show|see|find|out|check|hello|sorry)$/u.test(word.stem);

type Found = { readonly slots: readonly (readonly [string, string])[]; readonly said: number };

function matchFrom(matching: Matching, piece: number, word: number): Found | undefined {
  const place = piece * 100 + word;
  if (matching.dead.has(place)) return undefined;
  const found = matchHere(matching, piece, word);
  if (!found) matching.dead.add(place);
  return found;
}

function matchHere(matching: Matching, at: number, from: number): Found | undefined {
  const { pieces, words } = matching;
  const piece = pieces[at];
  const word = words[from];
  if (!piece) return words.slice(from).every(isTail) ? { slots: [], said: 0 } : undefined;
  if ("slot" in piece) return matchSlot(matching, piece.slot, { at, from });
  const worth = word ? Math.max(worthOf(piece.stem, word.stem), worthBeforeText(matching, at, word)) : 0;
  if (worth > 0) {
    const found = matchFrom(matching, at + 1, from + 1);
    if (found) return { ...found, said: found.said + (articles.has(piece.stem) ? 0 : worth) };
  }
  if (piece.isLittle || (word && isThere(piece.stem, word.stem))) {
    const found = matchFrom(matching, at + 1, from);
    if (found) return found;
  }
  return word && isFiller(word) ? matchFrom(matching, at, from + 1) : undefined;
}

const beforeText = new Set("with containing contain saying say".split(" "));

/** "With …", "containing …" and "that says …" are the same before a text. */
function worthBeforeText({ pieces, rules }: Matching, at: number, { stem }: Word): number {
  const [piece, next] = pieces.slice(at);
  const isText = next !== undefined && "slot" in next && rules.isProse(next.slot);
  return isText && piece && "stem" in piece && beforeText.has(piece.stem) && beforeText.has(stem) ? 0.9 : 0;
}

/** "How do I get there" has no "to". */
const isThere = (piece: string, word: string): boolean => piece === "to" && word === "there";

function matchSlot(
  matching: Matching,
  slot: string,
  { at, from }: { readonly at: number; readonly from: number },
): Found | undefined {
  const { pieces, words, rules } = matching;
  const isLast = at === pieces.length - 1;
  for (let end = from + 1; end <= words.length; end++) {
    // The last slot takes all that is left, but for "please".
    if (isLast && !words.slice(end).every(isPolite)) continue;
    const taken = words.slice(from, end);
    const value = rules.isProse(slot) ? joined(rules.dictated(taken, pieces[at - 1])) : withoutArticle(taken);
    if (value === "" || !rules.fits(slot, value)) continue;
    const found = matchFrom(matching, at + 1, end);
    if (found) return { slots: [[slot, value], ...found.slots], said: found.said };
  }
  return undefined;
}

const isPolite = ({ stem }: Word): boolean =>
  /^(?:please|pls|thank|thanks|now|today|too|again|instead|there|then)$/u.test(stem);
const isTail = (word: Word): boolean => isPolite(word) || isFiller(word);

const openers = new Set("a an the all any some every me my of al".split(" "));

function withoutArticle(words: readonly Word[]): string {
  const first = words.findIndex(({ stem }) => !openers.has(stem));
  return first < 0 ? "" : joined(words.slice(first));
}
