// Kinds of edges in the user's words: "owns" and "owner" mean `owner_of`, "eats" means `fed_with`.

import { countTypes, type NetworkEdge } from "./network.ts";

const smallWords = new Set("a an and at by for from has have in is of on or the to was with".split(" "));

/** Words for the same relation. */
const synonyms: readonly (readonly string[])[] = [
  "eat feed fed food",
  "know friend",
  "own belong",
  "live home reside",
  "work employ",
].map((words) => words.split(" ").map(toStem));

/** The types of the edges that share a word with the relation, or else a synonym. */
export function matchRelation(edges: readonly NetworkEdge[], relation: string): readonly string[] {
  const stems = listStems(relation);
  const types = countTypes(edges).map(({ type }) => type);
  const find = (words: readonly string[]) =>
    types.filter((type) => listStems(type).some((stem) => words.includes(stem)));
  const found = find(stems);
  return found.length > 0
    ? found
    : find(synonyms.filter((group) => stems.some((stem) => group.includes(stem))).flat());
}

/** "friend_of" as "friend of". */
export const formatType = (type: unknown): string =>
  String(type ?? "edge")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

function listStems(text: string): string[] {
  const words = text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "" && !smallWords.has(word)).map(toStem);
}

function toStem(word: string): string {
  return word.replace(/(?<=.{3})(?:ers?|ors?|ing|ed|es|s|e)$/u, "");
}
