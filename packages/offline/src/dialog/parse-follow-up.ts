import { type Entry, getText } from "capstan";
import { isPointerPhrase } from "../language/pointers.ts";
import { readValue } from "../language/read-value.ts";
import { tokenize } from "../language/words.ts";
import type { Property } from "../matching/properties.ts";
import type { Input } from "./fill-arguments.ts";
import type { Interpretation } from "./interpretation.ts";

export type FollowUp = {
  readonly addition: string;
  readonly replaced?: string;
  readonly isCorrection?: true;
};

const apologyPattern = String.raw`^\s*(?:(?:no+|nope|sorry|oops|wait|actually|ah|oh|hm+)[\s,.!]+)*`;
const intendedPattern = new RegExp(
  `${apologyPattern}i\\s+(?:meant|mean|said|wanted)(?:\\s+to\\s+say)?[\\s,:]+(?<addition>\\S.*)$`,
  "isu",
);
const contrastPattern = new RegExp(
  `${apologyPattern}not\\s+(?<replaced>[^,;.]{1,60})[,;.]\\s*(?:but\\s+)?(?<addition>\\S.*)$`,
  "isu",
);

/** Parses a correction such as "No, I meant green" or "not the boats, the trains". */
export function parseCorrection(text: string): FollowUp | undefined {
  const found = intendedPattern.exec(text) ?? contrastPattern.exec(text);
  const { addition, replaced } = found?.groups ?? {};
  if (addition === undefined) return undefined;
  // "I said green, not blue" contains both values.
  const [, kept = addition, other] = /^(.+?),\s*not\s+(.+)$/isu.exec(addition) ?? [];
  const wrong = replaced ?? other;
  return { addition: kept, isCorrection: true, ...(wrong !== undefined && { replaced: wrong }) };
}

const returnPattern =
  /^\s*(?:and\s+)?(?:how\s+do\s+(?:i|we)\s+get\s+|take\s+me\s+)?(?:(?:the\s+)?(?:way|route|trip|directions?)\s+)?(?:back|in\s+reverse|vice\s+versa|the\s+other\s+way(?:\s+(?:a?round))?)(?:\s+again)?[\s?.!]*$/iu;

/** Swaps start and destination for "and back?" after a request for directions. */
export function reverseDirections(
  addition: string,
  { intents }: Pick<Interpretation, "intents">,
): string | undefined {
  const [only, ...others] = intents;
  const example = only?.match.example;
  if (!returnPattern.test(addition) || !example || others.length > 0 || example.slots.size !== 2)
    return undefined;
  const start = /\bfrom \{([^}]*)\}/u.exec(example.phrase)?.[1] ?? "";
  const end = /\bto \{([^}]*)\}/u.exec(example.phrase)?.[1] ?? "";
  const values = new Map([
    [start, example.slots.get(end)],
    [end, example.slots.get(start)],
  ]);
  if ([...values.values()].some((value) => value === undefined || isPointerPhrase(tokenize(value))))
    return undefined;
  return example.phrase.replace(/\{([^}]*)\}/gu, (_, slot: string) => values.get(slot) ?? "");
}

/** Extracts the new part of a follow-up: "What about the boats?", "and the trains?", "yes, the blue ones". */
export function parseContinuation(text: string): FollowUp | undefined {
  const found =
    /^\s*(?:and\s+|but\s+|so\s+|ok(?:ay)?,?\s+)?(?:what|how)\s+about\s+(?<new>.+)$/isu.exec(text) ??
    /^\s*(?:yes|yeah|yep|sure|ok|okay|no)\b[\s,.!:;-]*(?<new>\S.*)$/isu.exec(text) ??
    /^\s*(?:and|now|then|or|but)\s+(?<new>.+)$/isu.exec(text) ??
    /^\s*(?<new>(?:without|with|in|on|near|from|to|via|at)\s.{1,40})$/isu.exec(text);
  const addition = found?.groups?.new;
  return addition === undefined ? undefined : { addition };
}

/** True for a few words right after a question. */
export function isShortReply(text: string, before: readonly Entry[]): boolean {
  const last = before.at(-1);
  return last?.type === "assistant" && getText(last).includes("?") && tokenize(text).length <= 6;
}

/** The values of missing arguments in a reply: "7 pages" contains a number and a text. */
export function extractValues(text: string, missing: readonly Property[]): Input {
  let rest = text.trim().replace(/[.!?]+$/u, "");
  const values: Record<string, Input[string]> = {};
  for (const property of missing.toSorted((left, right) => rankProperty(left) - rankProperty(right))) {
    const value = rest === "" || property.isReference ? undefined : readValue(rest, property);
    if (value === undefined) continue;
    values[property.name] = value;
    rest = property.type === "number" ? rest.replace(String(value), "").trim() : "";
  }
  return values;
}

/** Numbers come first, because any reply is a valid text. */
const rankProperty = ({ type }: Property): number => (type === "number" ? 0 : 1);
