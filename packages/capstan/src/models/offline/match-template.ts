import { isRecord, type Json } from "../../json.ts";
import type { ToolSpec } from "../../model.ts";
import { isFiller, isNear, stemOf, unquoted, type Word } from "./words.ts";

/** An example of a tool: what a person says, with `{slots}`, and the input it means. */
export type Example = { readonly says: string; readonly input: { readonly [key: string]: Json } };

/** What a sentence has at the places of the slots, and how many words of the template it has said. */
export type TemplateMatch = { readonly slots: ReadonlyMap<string, string>; readonly said: number };

export function examplesOf(tool: ToolSpec): Example[] {
  const examples: unknown = Reflect.get(tool.input, "examples");
  if (!Array.isArray(examples)) return [];
  return examples
    .filter(isRecord)
    .flatMap(({ says, input }) =>
      typeof says === "string" ? [{ says, input: isRecord(input) ? (input as Example["input"]) : {} }] : [],
    );
}

type Piece = { readonly slot: string } | { readonly stem: string };

function piecesOf(says: string): Piece[] {
  return (says.match(/\{[^}]*\}|[^\s{},.?!;]+/gu) ?? []).map((piece) =>
    piece.startsWith("{") ? { slot: piece.slice(1, -1) } : { stem: stemOf(piece) },
  );
}

/**
 * Whether a sentence says what a template says. Words before it and little words in between do not matter, slips of
 * the pen are forgiven, and every slot has at least one word.
 */
export function matchTemplate(says: string, words: readonly Word[]): TemplateMatch | undefined {
  const pieces = piecesOf(says);
  const said = pieces.filter((piece) => "stem" in piece).length;
  // A template that starts with a slot takes the sentence from its start on.
  const starts = pieces[0] && "slot" in pieces[0] ? 1 : words.length;
  const dead = new Set<string>();
  for (let start = 0; start < starts; start++) {
    const slots = matchFrom(pieces, words.slice(start), dead);
    if (slots) return { slots: new Map(slots), said };
  }
  return undefined;
}

type Slots = readonly (readonly [string, string])[];

/** `dead` has the pairs of rests that do not match: without it, several slots take exponential time. */
function matchFrom(pieces: readonly Piece[], words: readonly Word[], dead: Set<string>): Slots | undefined {
  const place = `${pieces.length} ${words.length}`;
  if (dead.has(place)) return undefined;
  const slots = matchPiece(pieces, words, dead);
  if (!slots) dead.add(place);
  return slots;
}

function matchPiece(pieces: readonly Piece[], words: readonly Word[], dead: Set<string>): Slots | undefined {
  const [piece, ...rest] = pieces;
  const [word, ...others] = words;
  if (!piece) return words.every((left) => isPolite(left) || isFiller(left)) ? [] : undefined;
  if (!word) return undefined;
  if ("stem" in piece) {
    if (isNear(word.stem, piece.stem)) {
      const matched = matchFrom(rest, others, dead);
      if (matched) return matched;
    }
    return isFiller(word) ? matchFrom(pieces, others, dead) : undefined;
  }
  for (let length = 1; length <= words.length; length++) {
    const value = slotValue(words.slice(0, length));
    if (value === "") continue;
    const matched = matchFrom(rest, words.slice(length), dead);
    const next = words[length];
    // The last slot takes all that is left, but for "please".
    if (matched && (rest.length > 0 || !next || isPolite(next))) return [[piece.slot, value], ...matched];
  }
  return undefined;
}

const isPolite = ({ stem }: Word): boolean => /^(?:please|thank|now|today)$/u.test(stem);

const articles = new Set(["a", "an", "the", "all", "any", "some", "every", "me", "my", "of"]);

function slotValue(words: readonly Word[]): string {
  const first = words.findIndex(({ stem }) => !articles.has(stem));
  return first < 0
    ? ""
    : words
        .slice(first)
        .map(({ raw }) => unquoted(raw))
        .join(" ");
}
