import { AgentError } from "capstan";

const deepest = 64;
const mostItems = 100_000;

/** An object or a list that is not closed yet. */
type Open = {
  /** Of an object: those it has so far. */
  readonly keys: Set<string> | undefined;
  /** The key it stands under. */
  readonly under: string | undefined;
};

/**
 * Parses JSON that comes from outside. Beside what is not JSON it refuses what other readers would read in another way, or
 * could not bear: an object with the same key twice, keys that lead to prototypes, more than 64 levels, more than
 * 100,000 items. All that is known before anything is made of the text. Throws `invalid_input`.
 */
export function parseJson(text: string): unknown {
  scan(text);
  try {
    return JSON.parse(text);
  } catch {
    throw new AgentError("invalid_input", "The body is not JSON.");
  }
}

/** What it says of a text that is not JSON does not matter: the parser refuses that. */
function scan(text: string): void {
  const open: Open[] = [];
  let items = 0;
  let isKeyNext = false;
  let key: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (isKeyNext) key = addKey(open.at(-1), text.slice(at, end + 1));
      at = end;
    } else if (character === "{" || character === "[") {
      open.push({ keys: character === "{" ? new Set() : undefined, under: key });
      if (open.length > deepest) throw refused(`nests deeper than ${deepest} levels`);
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
    if (items > mostItems) throw refused(`has more than ${mostItems} items`);
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function addKey(object: Open | undefined, quoted: string): string | undefined {
  const key = unquoted(quoted);
  if (key === undefined || object?.keys === undefined) return undefined;
  const isPrototype = key === "__proto__" || (key === "prototype" && object.under === "constructor");
  if (isPrototype) throw refused(`has the key "${key}"`);
  if (object.keys.has(key)) throw refused(`has the key ${JSON.stringify(key.slice(0, 100))} twice`);
  object.keys.add(key);
  return key;
}

function unquoted(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined; // no string: the parser will say so
  }
}

function refused(what: string): AgentError {
  return new AgentError("invalid_input", `The body ${what}.`);
}
