// Compiles a JSON Schema once, when it is defined, into a copy for the validator. The copy has known keywords only, its
// references are resolved, and it contains no pattern that the validator would run as a RegExp: a string pattern
// becomes a custom format, and key patterns are removed and replaced by the matching keys at each validation.
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { checkedFormats, keywordKinds, typeNames } from "./keywords.ts";
import { toRe2 } from "./linear-pattern.ts";
import { collectNamedSchemas, resolveReference } from "./references.ts";

/** A schema object of the copy. */
export type Node = { [keyword: string]: unknown };
export type Compiled = Node | boolean;

export type CompiledSchema = {
  readonly root: Compiled;
  /** Targets of the references in the copy. */
  readonly targets: { readonly [name: string]: Compiled };
  /** Patterns in RE2 syntax, by format name. */
  readonly formats: ReadonlyMap<string, string>;
  readonly keyPatterns: readonly KeyPatterns[];
  readonly usesUniqueItems: boolean;
  /** All schema objects of the copy. */
  readonly nodes: readonly Node[];
};

/** A schema object whose `properties` depend on the keys of the value: its declared keys, and keys that match a pattern. */
export type KeyPatterns = {
  readonly node: Node;
  readonly properties: { readonly [key: string]: Compiled };
  readonly patterns: readonly { readonly pattern: string; readonly re2: string; readonly schema: Compiled }[];
};

/** Prefix of the format name for a pattern. */
export const patternFormat = "capstan:pattern:";

type Compilation = {
  readonly owner: string;
  readonly named: ReadonlyMap<string, unknown>;
  readonly compiled: Map<object, Node>;
  readonly references: {
    readonly name: string;
    readonly target: unknown;
    readonly location: SchemaLocation;
  }[];
  readonly formats: Map<string, string>;
  readonly keyPatterns: KeyPatterns[];
};

/** Path for error messages, and the schema that references are relative to. */
type SchemaLocation = { readonly path: readonly string[]; readonly resource: unknown };

/** Throws `invalid_definition` for a schema that cannot be checked. `owner` names the schema in the message. */
export function compileSchema(schema: object, owner: string): CompiledSchema {
  const compilation: Compilation = {
    owner,
    named: collectNamedSchemas(schema),
    compiled: new Map(),
    references: [],
    formats: new Map(),
    keyPatterns: [],
  };
  const location = { path: [], resource: schema };
  const keywords = Object.keys(schema);
  if (keywords.length > 0 && !keywords.some((word) => keywordKinds.has(word) || /^[$~]|^x-/.test(word)))
    failCompilation(compilation, location, "has no JSON Schema keyword and is not a parameter record");
  const root = compileNode(compilation, schema, location);
  const targets: { [name: string]: Compiled } = Object.create(null);
  // Iterates over a growing list, because long chains of references would overflow the stack.
  for (const { name, target, location } of compilation.references)
    targets[name] = compileNode(compilation, target, location);
  const { formats, keyPatterns } = compilation;
  const nodes = [...compilation.compiled.values()];
  const usesUniqueItems = nodes.some((node) => node.uniqueItems === true);
  return { root, targets, formats, keyPatterns, usesUniqueItems, nodes };
}

function failCompilation({ owner }: Compilation, { path }: SchemaLocation, problem: string): never {
  const subject = path.length > 0 ? `${path.join(".")} in the schema` : "The schema";
  throw new AgentError("invalid_definition", `${subject} of ${owner} ${problem}.`);
}

function atKey({ path, resource }: SchemaLocation, key: string): SchemaLocation {
  return { path: [...path, key], resource };
}

function compileNode(compilation: Compilation, schema: unknown, outer: SchemaLocation): Compiled {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema))
    return failCompilation(compilation, outer, "must be a schema: an object or a boolean");
  const known = compilation.compiled.get(schema);
  if (known) return known;
  const node: Node = {};
  compilation.compiled.set(schema, node);
  const location = typeof schema.$id === "string" ? { path: outer.path, resource: schema } : outer;
  for (const [keyword, value] of Object.entries(schema)) {
    const compiled =
      value === undefined ? undefined : compileKeyword(compilation, value, atKey(location, keyword));
    if (compiled !== undefined) node[keyword] = compiled;
  }
  replacePattern(node);
  extractKeyPatterns(compilation, node, atKey(location, "patternProperties"));
  return node;
}

function compileKeyword(compilation: Compilation, value: unknown, location: SchemaLocation): unknown {
  switch (keywordKinds.get(location.path.at(-1) ?? "")) {
    case "schema":
      return compileNode(compilation, value, location);
    case "schemas":
      return compileList(compilation, value, location);
    case "items":
      return Array.isArray(value)
        ? compileList(compilation, value, location)
        : compileNode(compilation, value, location);
    case "schema map":
    case "dependencies":
      return compileMap(compilation, value, location);
    case "type":
      return assertType(compilation, value, location);
    case "list":
      return Array.isArray(value) ? value : failCompilation(compilation, location, "must be a list");
    case "pattern":
      compilation.formats.set(`${patternFormat}${value}`, translatePattern(compilation, value, location));
      return value;
    case "format":
      return checkedFormats.get(String(value));
    case "reference":
      return compileReference(compilation, value, location);
    case "unsupported":
      return failCompilation(compilation, location, "is not supported; use $ref");
    case "data":
      return value;
    case "silent":
    case undefined:
      return undefined;
  }
}

function compileList(compilation: Compilation, value: unknown, location: SchemaLocation): Compiled[] {
  if (!Array.isArray(value)) return failCompilation(compilation, location, "must be a list of schemas");
  return value.map((schema, index) => compileNode(compilation, schema, atKey(location, String(index))));
}

function compileMap(compilation: Compilation, value: unknown, location: SchemaLocation): Node {
  if (!isRecord(value)) return failCompilation(compilation, location, "must be an object of schemas");
  // No prototype, because a key can have any name.
  const map: Node = Object.create(null);
  const allowsNames = keywordKinds.get(location.path.at(-1) ?? "") === "dependencies";
  for (const [key, member] of Object.entries(value))
    map[key] =
      allowsNames && Array.isArray(member) ? member : compileNode(compilation, member, atKey(location, key));
  return map;
}

function assertType(compilation: Compilation, value: unknown, location: SchemaLocation): unknown {
  const unknown = [value].flat().find((name) => !typeNames.some((known) => known === name));
  if (unknown === undefined) return value;
  return failCompilation(
    compilation,
    location,
    `is ${JSON.stringify(unknown)}; must be one of ${typeNames.join(", ")}`,
  );
}

function compileReference(compilation: Compilation, reference: unknown, location: SchemaLocation): string {
  const target =
    typeof reference === "string"
      ? resolveReference(reference, location.resource, compilation.named)
      : undefined;
  if (target === undefined)
    return failCompilation(
      compilation,
      location,
      `refers to ${JSON.stringify(reference)}, which is not part of the schema; external references are not fetched`,
    );
  const name = `${compilation.references.length}`;
  compilation.references.push({
    name,
    target,
    location: { path: [String(reference)], resource: location.resource },
  });
  return name;
}

function translatePattern(compilation: Compilation, pattern: unknown, location: SchemaLocation): string {
  if (typeof pattern !== "string") return failCompilation(compilation, location, "must be a string");
  const { re2, problem } = toRe2(pattern);
  return (
    re2 ??
    failCompilation(compilation, location, `has the pattern ${JSON.stringify(pattern)}, but ${problem}`)
  );
}

function replacePattern(node: Node): void {
  if (node.pattern === undefined) return;
  const others = (node.allOf as readonly Compiled[] | undefined) ?? [];
  // In a separate schema, because `format` may already be set.
  node.allOf = [...others, { format: `${patternFormat}${node.pattern}` }];
  delete node.pattern;
}

function extractKeyPatterns(compilation: Compilation, node: Node, location: SchemaLocation): void {
  if (node.patternProperties === undefined) return;
  const schemas = node.patternProperties as { readonly [pattern: string]: Compiled };
  const patterns = Object.entries(schemas).map(([pattern, schema]) => {
    return { pattern, re2: translatePattern(compilation, pattern, location), schema };
  });
  delete node.patternProperties;
  const properties = (node.properties as KeyPatterns["properties"] | undefined) ?? {};
  compilation.keyPatterns.push({ node, properties, patterns });
}
