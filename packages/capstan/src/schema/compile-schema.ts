// A JSON Schema is compiled once, when it is defined, into a copy that the validator reads: the copy holds known
// keywords only, its references are resolved, and no pattern is left in it that the validator would run as a RegExp.
// A pattern of texts becomes a format of our own. Patterns of keys are taken out, and each validation puts the keys
// that match in their place.
import { AgentError } from "../errors.ts";
import { isRecord } from "../json.ts";
import { checkedFormats, keywordKinds, typeNames } from "./keywords.ts";
import { toRe2 } from "./linear-pattern.ts";
import { namedSchemas, resolveReference } from "./references.ts";

/** A schema of the copy. */
export type Node = { [keyword: string]: unknown };
export type Compiled = Node | boolean;

export type CompiledSchema = {
  readonly root: Compiled;
  /** What the references of the copy refer to. */
  readonly targets: { readonly [name: string]: Compiled };
  /** Patterns in RE2's syntax, by the names of the formats they became. */
  readonly formats: ReadonlyMap<string, string>;
  readonly keyPatterns: readonly KeyPatterns[];
  readonly usesUniqueItems: boolean;
  /** All schemas of the copy. */
  readonly nodes: readonly Node[];
};

/** A schema whose `properties` depend on the keys of the value: its own, and those that match a pattern. */
export type KeyPatterns = {
  readonly node: Node;
  readonly properties: { readonly [key: string]: Compiled };
  readonly patterns: readonly { readonly pattern: string; readonly re2: string; readonly schema: Compiled }[];
};

/** Before the pattern in the name of a format that checks it. */
export const patternFormat = "capstan:pattern:";

type Compilation = {
  readonly owner: string;
  readonly named: ReadonlyMap<string, unknown>;
  readonly compiled: Map<object, Node>;
  readonly references: { readonly name: string; readonly target: unknown; readonly place: Place }[];
  readonly formats: Map<string, string>;
  readonly keyPatterns: KeyPatterns[];
};

/** Where something stands: the path to it, for people, and what references there are relative to. */
type Place = { readonly path: readonly string[]; readonly resource: unknown };

/** Throws `invalid_definition` for a schema that cannot be checked; `owner` names it in the message. */
export function compileSchema(schema: object, owner: string): CompiledSchema {
  const compilation: Compilation = {
    owner,
    named: namedSchemas(schema),
    compiled: new Map(),
    references: [],
    formats: new Map(),
    keyPatterns: [],
  };
  const place = { path: [], resource: schema };
  const words = Object.keys(schema);
  if (words.length > 0 && !words.some((word) => keywordKinds.has(word) || /^[$~]|^x-/.test(word)))
    fail(compilation, place, "has no keyword of JSON Schema, and is no parameter record either");
  const root = compile(compilation, schema, place);
  const targets: { [name: string]: Compiled } = Object.create(null);
  // A list to work off, which grows: references may form long chains that recursion would not survive.
  for (const { name, target, place } of compilation.references)
    targets[name] = compile(compilation, target, place);
  const { formats, keyPatterns } = compilation;
  const nodes = [...compilation.compiled.values()];
  const usesUniqueItems = nodes.some((node) => node.uniqueItems === true);
  return { root, targets, formats, keyPatterns, usesUniqueItems, nodes };
}

function fail({ owner }: Compilation, { path }: Place, problem: string): never {
  const what = path.length > 0 ? `${path.join(".")} in the schema` : "The schema";
  throw new AgentError("invalid_definition", `${what} of ${owner} ${problem}.`);
}

function inside({ path, resource }: Place, key: string): Place {
  return { path: [...path, key], resource };
}

function compile(compilation: Compilation, schema: unknown, outer: Place): Compiled {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema)) return fail(compilation, outer, "must be a schema: an object or a boolean");
  const known = compilation.compiled.get(schema);
  if (known) return known;
  const node: Node = {};
  compilation.compiled.set(schema, node);
  const place = typeof schema.$id === "string" ? { path: outer.path, resource: schema } : outer;
  for (const [keyword, value] of Object.entries(schema)) {
    const compiled =
      value === undefined ? undefined : compileKeyword(compilation, value, inside(place, keyword));
    if (compiled !== undefined) node[keyword] = compiled;
  }
  replacePattern(node);
  takeKeyPatterns(compilation, node, inside(place, "patternProperties"));
  return node;
}

function compileKeyword(compilation: Compilation, value: unknown, place: Place): unknown {
  switch (keywordKinds.get(place.path.at(-1) ?? "")) {
    case "schema":
      return compile(compilation, value, place);
    case "schemas":
      return compileList(compilation, value, place);
    case "items":
      return Array.isArray(value)
        ? compileList(compilation, value, place)
        : compile(compilation, value, place);
    case "schema map":
    case "dependencies":
      return compileMap(compilation, value, place);
    case "type":
      return checkType(compilation, value, place);
    case "list":
      return Array.isArray(value) ? value : fail(compilation, place, "must be a list");
    case "pattern":
      compilation.formats.set(`${patternFormat}${value}`, translate(compilation, value, place));
      return value;
    case "format":
      return checkedFormats.get(String(value));
    case "reference":
      return refer(compilation, value, place);
    case "unsupported":
      return fail(compilation, place, "is not supported; use $ref");
    case "data":
      return value;
    case "silent":
    case undefined:
      return undefined;
  }
}

function compileList(compilation: Compilation, value: unknown, place: Place): Compiled[] {
  if (!Array.isArray(value)) return fail(compilation, place, "must be a list of schemas");
  return value.map((schema, index) => compile(compilation, schema, inside(place, String(index))));
}

function compileMap(compilation: Compilation, value: unknown, place: Place): Node {
  if (!isRecord(value)) return fail(compilation, place, "must be an object of schemas");
  // Without a prototype: a key may have any name.
  const map: Node = Object.create(null);
  const mayHoldNames = keywordKinds.get(place.path.at(-1) ?? "") === "dependencies";
  for (const [key, member] of Object.entries(value))
    map[key] =
      mayHoldNames && Array.isArray(member) ? member : compile(compilation, member, inside(place, key));
  return map;
}

function checkType(compilation: Compilation, value: unknown, place: Place): unknown {
  const strange = [value].flat().find((name) => !typeNames.some((known) => known === name));
  if (strange === undefined) return value;
  return fail(compilation, place, `is ${JSON.stringify(strange)}; the types are ${typeNames.join(", ")}`);
}

function refer(compilation: Compilation, reference: unknown, place: Place): string {
  const target =
    typeof reference === "string"
      ? resolveReference(reference, place.resource, compilation.named)
      : undefined;
  if (target === undefined)
    return fail(
      compilation,
      place,
      `refers to ${JSON.stringify(reference)}, which is not in the schema; nothing is fetched from elsewhere`,
    );
  const name = `${compilation.references.length}`;
  compilation.references.push({
    name,
    target,
    place: { path: [String(reference)], resource: place.resource },
  });
  return name;
}

function translate(compilation: Compilation, pattern: unknown, place: Place): string {
  if (typeof pattern !== "string") return fail(compilation, place, "must be a text");
  const { re2, problem } = toRe2(pattern);
  return re2 ?? fail(compilation, place, `has the pattern ${JSON.stringify(pattern)}, but ${problem}`);
}

function replacePattern(node: Node): void {
  if (node.pattern === undefined) return;
  const beside = (node.allOf as readonly Compiled[] | undefined) ?? [];
  // In a schema of its own: there may be a format already.
  node.allOf = [...beside, { format: `${patternFormat}${node.pattern}` }];
  delete node.pattern;
}

function takeKeyPatterns(compilation: Compilation, node: Node, place: Place): void {
  if (node.patternProperties === undefined) return;
  const schemas = node.patternProperties as { readonly [pattern: string]: Compiled };
  const patterns = Object.entries(schemas).map(([pattern, schema]) => {
    return { pattern, re2: translate(compilation, pattern, place), schema };
  });
  delete node.patternProperties;
  const properties = (node.properties as KeyPatterns["properties"] | undefined) ?? {};
  compilation.keyPatterns.push({ node, properties, patterns });
}
