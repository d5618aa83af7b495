import type { Json, ToolSpec } from "capstan";
import { headOf } from "./describe-data.ts";
import type { Item } from "./known-results.ts";
import { examplesOf } from "./match-template.ts";
import { isIdName, type Property } from "./properties.ts";
import { spokenName } from "./spoken-name.ts";
import { inWords } from "./words.ts";

/** One short question for what a tool needs. */
export function askFor(tool: ToolSpec, property: Property, tools: readonly ToolSpec[]): string {
  const title = spokenName(tool.name, tools);
  const { name, description, choices, isReference } = property;
  const bare = inWords(isReference ? name.replace(/(?:_i|I)ds?$/u, "") || "one" : name);
  // An argument such as `from` is no noun.
  const words = /^(?:from|to|near|at|in|by|for|with)$/u.test(bare) ? `"${bare}"` : `the ${bare}`;
  const listed = choices.slice(0, 12).map(String);
  if (listed.length > 0) return `For "${title}" I need to know ${words}. Which one: ${either(listed)}?`;
  const about = isReference ? "" : description.replace(/[.\s]+$/u, "");
  const said = examplesOf(tool).find(
    ({ phrase, input }) => phrase.includes(`{${name}}`) || input[name] !== undefined,
  );
  const example = said ? ` For example: "${withDots(said.phrase)}".` : "";
  return `For "${title}" I need to know ${words}${about && ` (${about})`}. What should it be?${example}`;
}

/** An example as people are shown it, with dots for what only they know. */
export const withDots = (phrase: string): string => phrase.replace(/\{[^}]*\}/gu, "…");

/** Which of several is meant, in words that tell them apart. */
export function askWhich(phrase: string, candidates: readonly Item[]): string {
  const shown = candidates.slice(0, 6);
  const names = shown.map((item) => {
    const name = headOf(item) ?? "";
    const others = differences(item, shown);
    return others === "" ? name : `${name} (${others})`;
  });
  const more = candidates.length > shown.length ? " There are more." : "";
  return `There are several for "${phrase}".${more} Which one do you mean: ${either(names)}?`;
}

/** The first property of words in which a thing differs from the others. */
function differences(item: Item, all: readonly Item[]): string {
  const name = headOf(item);
  const isTelling = ([key, value]: [string, Json]) =>
    typeof value === "string" &&
    value !== name &&
    value.length <= 40 &&
    !isIdName(key) &&
    all.some((other) => other[key] !== value);
  const found = Object.entries(item).find(isTelling);
  return found ? String(found[1]) : "";
}

export const either = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
