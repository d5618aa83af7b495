import { type Json, suggestName } from "capstan";
import { type Facts, Refusal } from "./command.ts";
import { getPlainText } from "./match-nodes.ts";
import { countTypes, getName, type Network, type NetworkNode } from "./network.ts";
import { type NodeSelection, selectorPrefix } from "./pick-nodes.ts";

const selectorSyntax =
  "Operators: == != < <= > >= contains, with and, or, parentheses; strings in quotes; * matches all";

export const selectorInput: Json = {
  type: "string",
  description: `Which nodes, such as type == 'cat' and age > 4. Properties: all node properties, and id, degree. ${selectorSyntax}. Names work too: Ada and Ben`,
};

export const edgeSelectorInput: Json = {
  type: "string",
  description: `Which edges, such as type == 'lives_in'. Properties: all edge properties, and id, from, to, fromName, toName. ${selectorSyntax}`,
};

export const nodeIdsInput: Json = {
  type: "array",
  items: { type: "string" },
  description: "Ids of nodes, as returned by findNodes; names work too",
};

export const targetInput: Json = {
  type: "string",
  enum: ["nodes", "edges"],
  default: "nodes",
  description: "Nodes or edges",
};

export const colorInput: Json = {
  type: "string",
  description: "The color as hex, such as #0000ff, or as a name, such as blue",
};

/** "1 node", "3 nodes". */
export const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** An empty result is not an error: tell the model what it could offer instead. */
export function explainNoNodes({ nodes, title }: Network, selector: string): string {
  const types = countTypes(nodes).map(({ type, count }) => `${type} (${count})`);
  return `${formatNoNodes(selector)} Node types in "${title}": ${types.join(", ")}.`;
}

export function formatNoNodes(selector: string): string {
  const plainText = getPlainText(selector);
  return plainText === undefined
    ? `No node matches "${formatSelector(selector)}".`
    : `No node has the name or type "${plainText}".`;
}

/** A selector in words: "type is cat and age above 4". */
const formatSelector = (selector: string): string =>
  selector
    .replaceAll(/\s*(==|!=|<=|>=|<|>)\s*/gu, (_, sign: string) => ` ${signs[sign]} `)
    .replaceAll(/['"]/gu, "");

const signs: { readonly [sign: string]: string } = {
  "==": "is",
  "!=": "is not",
  "<=": "at most",
  ">=": "at least",
  "<": "below",
  ">": "above",
};

/** Throws a refusal that suggests the name of a node, for a word that is close to it. */
export function refuseTypo({ nodes }: Network, words: string): void {
  const [first, ...others] = /(?<=")[^"]+(?=")/u.exec(suggestName(words, nodes.map(getName))) ?? [];
  const isTypo = words.length >= minTypoLength && first !== undefined && others.length === 0;
  if (isTypo) throw new Refusal(`${formatNoNodes(words)} Did you mean "${first}"?`);
}

/** Short words resemble some name by chance. */
const minTypoLength = 5;

/** Beyond this, a model gets some nodes and the selection. */
const maxListedNodes = 30;

/**
 * Lists nodes for the model: names with ids, so that it can resolve "the second one", and ids to pass on. The ids of many
 * nodes would not fit, so their selection stands for them.
 */
export function listNodes(nodes: readonly NetworkNode[], selection: NodeSelection): Facts {
  const { selector, nodeIds = [`${selectorPrefix}${selector}`] } = selection;
  const isWhole = nodes.length <= maxListedNodes;
  return {
    nodes: nodes.slice(0, maxListedNodes).map((node) => ({ id: node.id, name: getName(node) })),
    nodeIds: isWhole ? nodes.map(({ id }) => id) : nodeIds,
  };
}

/** Short enough for a button, and on one line. */
const shortLine = /^.{1,60}$/u;

/** Suggests replies for a request with an unknown type. */
export function suggestTypes({ nodes }: Network): readonly string[] {
  return countTypes(nodes.filter(({ data }) => shortLine.test(String(data.type ?? ""))))
    .slice(0, 5)
    .map(({ type }) => `yes, the ${type}s`);
}
