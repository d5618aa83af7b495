import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";

/** String formats that cannot carry free text. */
const closedFormats: readonly unknown[] = ["date", "date-time", "time", "duration"];

/** Keywords that do not affect validation. */
const annotations = [
  ...["$schema", "$comment", "title", "description", "default", "examples"],
  ...["deprecated", "readOnly", "writeOnly"],
];

const numberKeywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/** The keywords of each type whose effect is known here. A schema with any other keyword is rejected. */
const typeKeywords: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["null", []],
  ["boolean", []],
  ["number", numberKeywords],
  ["integer", numberKeywords],
  ["string", ["format", "pattern", "minLength", "maxLength"]],
  ["array", ["items", "minItems", "maxItems", "uniqueItems"]],
  ["object", ["properties", "required", "additionalProperties", "minProperties", "maxProperties"]],
]);

/** More choices would be a dictionary. */
const maxChoices = 1000;

/**
 * Throws unless every string that the schema allows is a date or a choice that the schema lists, so that no free text
 * can pass. Keywords that this check does not know are rejected, whatever they mean.
 */
export function assertClosed(schema: unknown, owner: string): void {
  const open = findOpenPath(schema, { path: "output", isInList: false });
  if (open === undefined) return;
  const message = `The output schema of the quarantine "${owner}" may allow free text at ${open}. Use numbers, booleans, dates or an enum.`;
  throw new AgentError("invalid_definition", message);
}

type Location = { readonly path: string; readonly isInList: boolean };

/** Returns the path of the first value that may hold free text, and why. */
function findOpenPath(schema: unknown, location: Location): string | undefined {
  const { path } = location;
  if (!isRecord(schema)) return path;
  const choices = listChoices(schema);
  if (choices)
    return findUnknownKeyword(schema, path, ["type", "enum", "const"]) ?? findOpenChoice(choices, location);
  const { anyOf, oneOf } = schema;
  const branches = anyOf ?? oneOf;
  if (branches !== undefined) {
    if (!Array.isArray(branches) || branches.length === 0) return path;
    const places = branches.map((branch, index) => [branch, `${path}[${index}]`] as const);
    const known = anyOf === undefined ? ["oneOf"] : ["anyOf"];
    return findUnknownKeyword(schema, path, known) ?? findFirstOpen(places, location);
  }
  const keywords = typeKeywords.get(schema.type);
  if (!keywords) return path;
  return findUnknownKeyword(schema, path, ["type", ...keywords]) ?? findOpenMember(schema, location);
}

function findUnknownKeyword(schema: object, path: string, known: readonly string[]): string | undefined {
  const keyword = Object.keys(schema).find((name) => !known.includes(name) && !annotations.includes(name));
  return keyword === undefined ? undefined : `${path} (the keyword "${keyword}" is not supported here)`;
}

function listChoices(schema: Record<string, unknown>): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function findOpenChoice(choices: readonly unknown[], { path, isInList }: Location): string | undefined {
  if (choices.length > maxChoices) return `${path} (more than ${maxChoices} choices)`;
  const isLetter = (choice: unknown) => typeof choice === "string" && [...choice].length === 1;
  return isInList && choices.some(isLetter) ? `${path} (single characters in a list spell text)` : undefined;
}

function findOpenMember(schema: Record<string, unknown>, location: Location): string | undefined {
  const { path } = location;
  switch (schema.type) {
    case "string":
      return closedFormats.includes(schema.format) ? undefined : path;
    case "array":
      return findOpenPath(schema.items, { path: `${path}[]`, isInList: true });
    case "object":
      return findOpenField(schema, location);
    default:
      return undefined;
  }
}

function findOpenField(schema: Record<string, unknown>, location: Location): string | undefined {
  const { path } = location;
  const { properties, additionalProperties } = schema;
  // Property names can carry text too, so all of them must be declared.
  if (additionalProperties !== false || !isRecord(properties))
    return `${path} (set additionalProperties to false)`;
  const places = Object.entries(properties).map(([name, field]) => [field, `${path}.${name}`] as const);
  return findFirstOpen(places, location);
}

function findFirstOpen(
  places: readonly (readonly [schema: unknown, path: string])[],
  { isInList }: Location,
): string | undefined {
  for (const [schema, path] of places) {
    const open = findOpenPath(schema, { path, isInList });
    if (open !== undefined) return open;
  }
  return undefined;
}
