// Runs the validator on a compiled schema. A model's output must not block the process, whatever the schema, so a
// validation limits its steps, the keys it matches against patterns, and the size of unique lists.
import { AgentError } from "../base/errors.ts";
import {
  type CompiledSchema,
  compileSchema,
  type KeyPatterns,
  type Node,
  patternFormat,
} from "./compile-schema.ts";
import { compileQuickCheck } from "./quick-check.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

const maxSchemaLength = 1_000_000;
const maxDepth = 64;

/**
 * Creates a validator for JSON Schema 2020-12. Throws `invalid_definition` for a schema that cannot be checked; patterns
 * that only the regex engine can reject fail on the first validation.
 */
export function createValidator(
  json: JsonSchema,
  owner: string,
): (value: unknown) => readonly string[] | Promise<readonly string[]> {
  assertSchemaSize(json, owner);
  const compiled = compileSchema(json, owner);
  const isValid = compileQuickCheck(compiled);
  let findIssues: FindIssues | undefined;
  // Stores the promise, because calls may validate their inputs at the same time.
  let loading: Promise<FindIssues> | undefined;
  async function loadAndFind(value: unknown): Promise<readonly string[]> {
    loading ??= loadValidator(compiled, owner);
    findIssues = await loading;
    return findIssues(value);
  }
  return (value) => (isValid?.(value) ? [] : (findIssues ?? loadAndFind)(value));
}

/** Applies to every schema, because the model reads it and the runtime walks through it. */
export function assertSchemaSize(json: JsonSchema, owner: string): void {
  let remaining = maxSchemaLength;
  const reject = (problem: string) => {
    throw new AgentError("invalid_definition", `The schema of ${owner} ${problem}.`);
  };
  const measure = (value: unknown, depth: number): void => {
    remaining -= typeof value === "object" && value !== null ? 2 : String(value).length + 1;
    // Checked while counting: a schema with shared parts may be small in memory and huge as text.
    if (remaining < 0) reject(`is larger than ${maxSchemaLength} characters`);
    if (typeof value !== "object" || value === null) return;
    if (depth === 0) reject(`is nested deeper than ${maxDepth} levels`);
    for (const [key, member] of Object.entries(value)) {
      remaining -= Array.isArray(value) ? 0 : key.length + 3;
      measure(member, depth - 1);
    }
  };
  measure(json, maxDepth);
}

const maxSteps = 3_000_000;
const maxUniqueItems = 5_000;
/** Distinct keys times objects. */
const maxKeyChecks = 10_000_000;

/** Returns the issues of a value; empty if it is valid. Never throws for an invalid value. */
export type FindIssues = (value: unknown) => readonly string[];

/** Loads dependencies on demand: zod tools never load the validator, and schemas without patterns never load RE2. */
export async function loadValidator(compiled: CompiledSchema, owner: string): Promise<FindIssues> {
  const { root, targets, formats, keyPatterns, usesUniqueItems, nodes } = compiled;
  const steps: Steps = { remaining: maxSteps };
  for (const node of nodes) limitSteps(node, steps);
  const { format, validate } = await import("@cfworker/json-schema");
  const compilePattern = formats.size + keyPatterns.length > 0 ? await loadPatternCompiler(owner) : undefined;
  if (compilePattern) {
    // The validator has one global table of formats; a pattern means the same in every schema.
    for (const [name, re2] of formats) format[name] ??= compilePattern(name.slice(patternFormat.length), re2);
  }
  const fillers = compilePattern
    ? keyPatterns.map((patterns) => createPropertyFiller(patterns, compilePattern))
    : [];
  const findErrors = (value: unknown, onlyFirst: boolean): ValidatorError[] => {
    steps.remaining = maxSteps;
    return validate(value, root, "2020-12", targets, onlyFirst).errors;
  };
  return (value) => {
    if (fillers.length > 0 || usesUniqueItems) {
      const { keys, objects, maxListLength } = measureValue(value);
      if (usesUniqueItems && maxListLength > maxUniqueItems) return ["has a list that is too long to check"];
      if (fillers.length > 0 && keys.size * objects > maxKeyChecks)
        return ["has too many distinct keys to check"];
      for (const fill of fillers) fill(keys);
    }
    return collectIssues((onlyFirst) => findErrors(value, onlyFirst));
  };
}

/** How many more schemas the validator may visit before it throws a RangeError. */
type Steps = { remaining: number };

/** The validator reads this keyword of every schema it visits. Nested alternatives could take exponential time. */
function limitSteps(node: Node, steps: Steps): void {
  Object.defineProperty(node, "$recursiveAnchor", {
    get() {
      if (--steps.remaining < 0) throw new RangeError("too many steps");
    },
  });
}

/** Returns all issues, or the first if there are too many: the validator spreads its errors into arguments. */
function collectIssues(findErrors: (onlyFirst: boolean) => ValidatorError[]): readonly string[] {
  let errors: ValidatorError[] = [];
  try {
    errors = findErrors(true);
    if (errors.length > 0) errors = findErrors(false);
  } catch (error) {
    if (error instanceof URIError) return ["has a key that is not well-formed text"];
    // Too many steps, or the stack overflowed.
    if (!(error instanceof RangeError)) throw error;
    if (errors.length === 0) return ["takes too many steps to check"];
  }
  const causes = errors.filter(isCause);
  return (causes.length > 0 ? causes : errors).map(describeError);
}

type Matches = (text: string) => boolean;
type CompilePattern = (pattern: string, re2: string) => Matches;

async function loadPatternCompiler(owner: string): Promise<CompilePattern> {
  const { RE2JS } = await import("re2js");
  return (pattern, re2) => {
    try {
      const compiled = RE2JS.compile(re2);
      return (text) => compiled.test(text);
    } catch (cause) {
      const message = `The pattern ${JSON.stringify(pattern)} in the schema of ${owner} cannot be matched in linear time.`;
      throw new AgentError("invalid_definition", message, { cause });
    }
  };
}

/** Adds the keys that match a pattern to `properties`, which is equivalent for a value with these keys. */
function createPropertyFiller(
  { node, properties, patterns }: KeyPatterns,
  compilePattern: CompilePattern,
): (keys: Set<string>) => void {
  const matchers = patterns.map(({ pattern, re2, schema }) => ({
    matches: compilePattern(pattern, re2),
    schema,
  }));
  return (keys) => {
    // No prototype, because a key can have any name.
    const filled: { [key: string]: unknown } = Object.assign(Object.create(null), properties);
    for (const key of keys) {
      const schemas = matchers.filter(({ matches }) => matches(key)).map(({ schema }) => schema);
      const own = Object.hasOwn(properties, key) ? [properties[key]] : [];
      if (schemas.length > 0)
        filled[key] = schemas.length + own.length > 1 ? { allOf: [...own, ...schemas] } : schemas[0];
    }
    node.properties = filled;
  };
}

function measureValue(value: unknown): { keys: Set<string>; objects: number; maxListLength: number } {
  const keys = new Set<string>();
  let objects = 0;
  let maxListLength = 0;
  const pending = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next)) maxListLength = Math.max(maxListLength, next.length);
    else {
      objects++;
      for (const key of Object.keys(next)) keys.add(key);
    }
    for (const member of Object.values(next)) if (member !== undefined) pending.push(member);
  }
  return { keys, objects, maxListLength };
}

type ValidatorError = { readonly keyword: string; readonly instanceLocation: string; readonly error: string };

/** The validator also reports every enclosing keyword; only the innermost error is useful. */
const enclosingKeywords = [
  ...["properties", "additionalProperties", "unevaluatedProperties", "dependentSchemas"],
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "$ref", "allOf", "if"],
];

function isCause({ keyword }: ValidatorError): boolean {
  return !enclosingKeywords.includes(keyword);
}

function describeError({ instanceLocation, keyword, error }: ValidatorError): string {
  const keys = instanceLocation
    .split("/")
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"));
  const text =
    keyword === "false"
      ? "is not allowed"
      : error.replace(`format "${patternFormat}`, 'pattern "').replace(/\.$/, "");
  return keys.length > 0 ? `${keys.join(".")}: ${text}` : text;
}
