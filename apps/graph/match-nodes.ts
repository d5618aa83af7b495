// Finds nodes by plain text, by name or type, one or several: "Whiskers and Mittens", "cats", "everything".

import { getName, type Network, type NetworkNode } from "./network.ts";
import { isSameKind, toSingular } from "./to-singular.ts";

/** The plain text of a selector that is not a formula or only tests the type; otherwise undefined. */
export function getPlainText(selector: string): string | undefined {
  const [, , type] = /^\s*type\s*==\s*(['"])([^'"]*)\1\s*$/u.exec(selector) ?? [];
  if (type !== undefined) return type;
  return /[=<>!'"()*]|\scontains\s/u.test(selector) ? undefined : selector.trim();
}

/** Returns the named nodes without duplicates, or undefined if any name is unknown: a partial result would mislead. */
export function matchNodes(network: Network, text: string): readonly NetworkNode[] | undefined {
  const direct = matchOne(network, text);
  if (direct) return direct;
  const parts = text.split(/\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+/iu).filter((part) => part !== "");
  const found = parts.map((part) => matchOne(network, part));
  if (parts.length < 2 || found.includes(undefined)) return undefined;
  return [...new Set(found.flatMap((nodes) => nodes ?? []))];
}

const articlePattern = /^(?:all\s+(?:of\s+)?the|all|every|each|the|a|an|node|nodes)\s+/iu;
const everythingPattern = /^(?:everything|everyone|everybody|all|(?:all\s+)?(?:the\s+)?nodes|it all)$/iu;
/** Shorter texts match too many names. */
const minPartialLength = 3;

function matchOne({ nodes }: Network, text: string): readonly NetworkNode[] | undefined {
  if (everythingPattern.test(text.trim())) return nodes;
  const searched = text.trim().replace(articlePattern, "").toLowerCase();
  const type = findType(nodes, searched);
  if (type !== undefined) return nodes.filter(({ data }) => data.type === type);
  const named = nodes.filter((node) =>
    [getName(node), node.id].some((name) => name.toLowerCase() === searched),
  );
  if (named.length > 0) return named;
  const similar = nodes.filter((node) => getName(node).toLowerCase().includes(searched));
  return searched.length >= minPartialLength && similar.length === 1 ? similar : undefined;
}

/** Finds a type by its singular or plural, or else by a synonym. */
export function findType(nodes: readonly NetworkNode[], word: string): Type | undefined {
  const types = [...new Set(nodes.flatMap(({ data }) => data.type ?? []))];
  const searched = word.toLowerCase();
  const isSame = (type: string) =>
    searched === type || searched === `${type}es` || toSingular(searched) === toSingular(type);
  const find = (test: (type: string) => boolean) => types.find((type) => test(String(type).toLowerCase()));
  return searched === "" ? undefined : (find(isSame) ?? find((type) => isSameKind(searched, type)));
}

type Type = NetworkNode["data"][string];
