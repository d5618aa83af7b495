import type { Json } from "capstan";
import { type Network, typesOf } from "./network.ts";
import { wordsIn } from "./nodes-said.ts";

const language =
  "Operators: == != < <= > >= contains, with and, or, parentheses; texts in quotes; * means all";

export const selectorInput: Json = {
  type: "string",
  description: `Which nodes, such as type == 'cat' and age > 4. Properties: those of the nodes, and id, degree. ${language}. Names work too: Whiskers and Mittens`,
};

export const edgeSelectorInput: Json = {
  type: "string",
  description: `Which edges, such as type == 'lives_in'. Properties: those of the edges, and id, from, to, fromName, toName. ${language}`,
};

export const nodeIdsInput: Json = {
  type: "array",
  items: { type: "string" },
  description: "Ids of nodes, as findNodes gives them; names work too",
};

export const colorInput: Json = {
  type: "string",
  description: "The colour as hex, such as #0000ff, or as a word, such as blue",
};

/** "1 node", "3 nodes". */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Finding nothing is no failure: the model is told what it could offer instead. */
export function noNodes({ nodes, title }: Network, selector: string): string {
  const types = typesOf(nodes).map(({ type, count }) => `${type} (${count})`);
  return `${nothingSaid(selector)} The types of nodes in "${title}" are: ${types.join(", ")}.`;
}

/** The first of it, in words for people. */
export function nothingSaid(selector: string): string {
  const words = wordsIn(selector);
  return words === undefined ? `No node matches ${selector}.` : `No nodes are called or typed "${words}".`;
}

/** What fits on a button: short, and in one line. */
const isShort = /^.{1,60}$/u;

/** What a person might say when a type that does not exist was asked for. */
export function otherTypes({ nodes }: Network): readonly string[] {
  return typesOf(nodes.filter(({ data }) => isShort.test(String(data.type ?? ""))))
    .slice(0, 5)
    .map(({ type }) => `yes, the ${type}s`);
}
