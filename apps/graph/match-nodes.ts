// Finds nodes by plain text, by name or type, one or several: "Whiskers and Mittens", "cats", "everything".

import { getName, type Network, type NetworkNode } from "./network.ts";
import { toSingular } from "./to-singular.ts";

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
  const typed = nodes.filter(({ data }) => matchesType(searched, String(data.type ?? "").toLowerCase()));
  if (typed.length > 0) return typed;
  const named = nodes.filter((node) =>
    [getName(node), node.id].some((name) => name.toLowerCase() === searched),
  );
  if (named.length > 0) return named;
  const similar = nodes.filter((node) => getName(node).toLowerCase().includes(searched));
  return searched.length >= minPartialLength && similar.length === 1 ? similar : undefined;
}

/** Accepts the singular and the plural of a type. */
const matchesType = (word: string, type: string): boolean =>
  word !== "" && (word === type || word === `${type}es` || toSingular(word) === toSingular(type));
