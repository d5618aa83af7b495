// Hand-written: no maintained parser refuses duplicate keys, prototype keys, depth and size before it creates values.

import { AgentError } from "capstan";

const maxDepth = 64;
const maxItems = 100_000;

type OpenContainer = {
  /** Keys seen so far; undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** The key of this container in its parent. */
  readonly parentKey: string | undefined;
};

/**
 * Parses untrusted JSON. Besides invalid JSON it refuses duplicate keys, prototype keys, more than 64 levels and more
 * than 100,000 items, before any value is created. Throws `invalid_input`.
 */
export function parseJson(text: string): unknown {
  checkLimits(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new AgentError("invalid_input", "The body is not valid JSON.");
  }
}

/** May accept invalid JSON, which the parser refuses afterwards. */
function checkLimits(text: string): void {
  const open: OpenContainer[] = [];
  let items = 0;
  let isKeyNext = false;
  let key: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = findStringEnd(text, at);
      if (isKeyNext) key = addKey(open.at(-1), text.slice(at, end + 1));
      at = end;
    } else if (character === "{" || character === "[") {
      open.push({ keys: character === "{" ? new Set() : undefined, parentKey: key });
      if (open.length > maxDepth) throw createBodyError(`is nested deeper than ${maxDepth} levels`);
      isKeyNext = character === "{";
      key = undefined;
      items++;
    } else if (character === "}" || character === "]") {
      open.pop();
      isKeyNext = false;
      key = undefined;
    } else if (character === ",") {
      isKeyNext = open.at(-1)?.keys !== undefined;
      key = undefined;
      items++;
    } else if (character === ":") isKeyNext = false;
    if (items > maxItems) throw createBodyError(`has more than ${maxItems} items`);
  }
}

function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function addKey(object: OpenContainer | undefined, quoted: string): string | undefined {
  const key = unquote(quoted);
  if (key === undefined || object?.keys === undefined) return undefined;
  const isPrototype = key === "__proto__" || (key === "prototype" && object.parentKey === "constructor");
  if (isPrototype) throw createBodyError(`contains the key "${key}"`);
  if (object.keys.has(key))
    throw createBodyError(`contains the key ${JSON.stringify(key.slice(0, 100))} twice`);
  object.keys.add(key);
  return key;
}

function unquote(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined; // not a string: left to the parser
  }
}

function createBodyError(what: string): AgentError {
  return new AgentError("invalid_input", `The body ${what}.`);
}
