import {
  type Container,
  type Field,
  findNumberEnd,
  findTextEnd,
  type LocatedField,
} from "./event-pattern.ts";

/**
 * Finds the fields of a JSON object that `paths` names, in the order of the text. Returns undefined if a name is repeated,
 * and if an object or a list in it has none of these fields.
 */
export function locateVariableFields(
  text: string,
  { value, start, paths }: { value: Container; start: number; paths: ReadonlySet<string> },
): readonly LocatedField[] | undefined {
  const locator: Locator = { text, at: start, paths, found: [] };
  return locateFields(locator, value, "") ? locator.found : undefined;
}

type Locator = {
  readonly text: string;
  at: number;
  readonly paths: ReadonlySet<string>;
  readonly found: LocatedField[];
};

/** Finds the variable fields of an object or a list at `locator.at`. Returns false if the event cannot be read by shape. */
function locateFields(locator: Locator, container: Container, path: string): boolean {
  const { text, found } = locator;
  const { length: countBefore } = found;
  const isList = Array.isArray(container);
  const keys = Object.keys(container);
  locator.at += 1;
  for (let index = 0; ; index++) {
    const { at: spaceAt } = locator;
    skipSpace(locator);
    if (text[locator.at] === "]" || text[locator.at] === "}") {
      if (path === "" && spaceAt < locator.at)
        found.push({ container, key: "", type: "space", start: spaceAt, end: locator.at });
      locator.at += 1;
      // A name that is repeated, or an object of constants.
      return index === keys.length && (index === 0 || found.length > countBefore);
    }
    if (index > 0) {
      locator.at += 1;
      skipSpace(locator);
    }
    const key = isList ? index : readKey(locator);
    if (key === "__proto__") return false;
    const inner = path === "" ? String(key) : `${path}.${isList ? "*" : key}`;
    if (!locateValue(locator, { container, key, path: inner })) return false;
  }
}

type Place = Pick<Field, "container" | "key"> & { readonly path: string };

function locateValue(locator: Locator, { container, key, path }: Place): boolean {
  const { text, at, paths, found } = locator;
  const value = container[key];
  if (text[at] === "{" || text[at] === "[")
    return typeof value === "object" && value !== null && locateFields(locator, value as Container, path);
  const isText = text[at] === '"';
  const start = isText ? at + 1 : at;
  const end = isText ? findTextEnd(text, start) : findScalarEnd(text, start);
  locator.at = isText ? end + 1 : end;
  const isVariable = paths.has(path) && (isText || findNumberEnd(text, start) === end);
  if (isVariable) found.push({ container, key, type: isText ? "text" : "number", start, end });
  return true;
}

function readKey(locator: Locator): string {
  const { text, at } = locator;
  const end = findTextEnd(text, at + 1) + 1;
  locator.at = end;
  skipSpace(locator);
  locator.at += 1; // the colon
  skipSpace(locator);
  return JSON.parse(text.slice(at, end));
}

function skipSpace(locator: Locator): void {
  while (" \t".includes(locator.text[locator.at] ?? "}")) locator.at += 1;
}

/** Returns the end of a number, a Boolean or null. */
function findScalarEnd(text: string, start: number): number {
  let at = start;
  while (!",]} \t".includes(text[at] ?? ",")) at += 1;
  return at;
}
