// Nodes in the words of people: by name or type, one or several. "Whiskers and Mittens", "cats", "everything".

import { type Network, type NetworkNode, nameOf } from "./network.ts";

/** What a selector says in plain words: one that is no formula, or the type that it asks for and nothing else. */
export function wordsIn(selector: string): string | undefined {
  const [, , type] = /^\s*type\s*==\s*(['"])([^'"]*)\1\s*$/u.exec(selector) ?? [];
  if (type !== undefined) return type;
  return /[=<>!'"()*]|\scontains\s/u.test(selector) ? undefined : selector.trim();
}

/** The nodes that words name, each once; nothing as soon as one of them is not known, so that no half is taken for all. */
export function nodesSaid(network: Network, words: string): readonly NetworkNode[] | undefined {
  const whole = nodesCalled(network, words);
  if (whole) return whole;
  const parts = words.split(/\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+/iu).filter((part) => part !== "");
  const found = parts.map((part) => nodesCalled(network, part));
  if (parts.length < 2 || found.includes(undefined)) return undefined;
  return [...new Set(found.flatMap((nodes) => nodes ?? []))];
}

const articles = /^(?:all\s+(?:of\s+)?the|all|every|each|the|a|an|node|nodes)\s+/iu;
const everything = /^(?:everything|everyone|everybody|all|(?:all\s+)?(?:the\s+)?nodes|it all)$/iu;
/** Fewer letters are in too many names. */
const shortest = 3;

function nodesCalled({ nodes }: Network, said: string): readonly NetworkNode[] | undefined {
  if (everything.test(said.trim())) return nodes;
  const wanted = said.trim().replace(articles, "").toLowerCase();
  const typed = nodes.filter(({ data }) => isOneOf(wanted, String(data.type ?? "").toLowerCase()));
  if (typed.length > 0) return typed;
  const named = nodes.filter((node) => [nameOf(node), node.id].some((name) => name.toLowerCase() === wanted));
  if (named.length > 0) return named;
  const similar = nodes.filter((node) => nameOf(node).toLowerCase().includes(wanted));
  return wanted.length >= shortest && similar.length === 1 ? similar : undefined;
}

/** "Cat" and "cats" are of the type cat. */
const isOneOf = (word: string, type: string): boolean =>
  word !== "" && [type, `${type}s`, `${type}es`, type.replace(/y$/u, "ies")].includes(word);
