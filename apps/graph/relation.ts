// Kinds of edges in the user's words: "owns" and "owner" mean `owner_of`.

import { countTypes, type NetworkEdge } from "./network.ts";

const smallWords = new Set("a an and at by for from has have in is of on or the to was with".split(" "));

/** The types of the edges that share a word with the relation. */
export function matchRelation(edges: readonly NetworkEdge[], relation: string): readonly string[] {
  const stems = listStems(relation);
  return countTypes(edges)
    .map(({ type }) => type)
    .filter((type) => listStems(type).some((stem) => stems.includes(stem)));
}

function listStems(text: string): string[] {
  const words = text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "" && !smallWords.has(word)).map(toStem);
}

const toStem = (word: string): string => word.replace(/(?<=.{3})(?:ers?|ors?|ing|ed|es|s|e)$/u, "");
