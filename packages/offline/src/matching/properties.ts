import { isRecord, type Json, type ToolSpec } from "capstan";

/** An argument of a tool, parsed from its JSON Schema. */
export type Property = {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "array" | "object";
  readonly required: boolean;
  readonly description: string;
  /** Allowed values, for an array its items' values. Empty if any value is allowed. */
  readonly choices: readonly Json[];
  readonly isInteger: boolean;
  readonly wantsHex: boolean;
  /** True if the value is an id. Users give a name instead. */
  readonly isReference: boolean;
  /** Properties of an object. */
  readonly inner: readonly Property[];
  /** Schema of the items of an array. */
  readonly member?: Property;
  readonly defaultValue?: Json;
  /** Minimum number of items of an array. */
  readonly minItems: number;
};

const propertyCache = new WeakMap<object, readonly Property[]>();

/** The arguments of a tool, in the order of its schema. */
export function getProperties({ input }: Pick<ToolSpec, "input">): readonly Property[] {
  const properties = propertyCache.get(input) ?? parseProperties(input);
  propertyCache.set(input, properties);
  return properties;
}

function parseProperties(schema: unknown): Property[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  // This name cannot be set on a plain object.
  const named = Object.entries(schema.properties).filter(([name]) => name !== "__proto__");
  return named.map(([name, value]) => parseProperty(name, isRecord(value) ? value : {}, required.has(name)));
}

function parseProperty(name: string, schema: Record<string, unknown>, required: boolean): Property {
  const items = isRecord(schema.items) ? schema.items : {};
  const description = typeof schema.description === "string" ? schema.description : "";
  const choices = parseChoices(schema).concat(parseChoices(items));
  const defaultValue = schema.default ?? (required && choices.length === 1 ? choices[0] : undefined);
  const { type, isInteger } = parseType(schema);
  const inner = type === "object" ? parseProperties(schema) : [];
  const member = type === "array" ? parseProperty(name, items, true) : undefined;
  const shape = { name, type, required, description, choices, isInteger, inner };
  return {
    ...shape,
    wantsHex: /hex|#[0-9a-f]{3}/iu.test(description) || String(schema.pattern ?? "").includes("^#"),
    isReference: isReferenceShape(shape),
    minItems: typeof schema.minItems === "number" ? schema.minItems : 0,
    ...(member && { member: { ...member, isReference: isReferenceShape({ ...shape, type: member.type }) } }),
    ...(defaultValue !== undefined && { defaultValue: defaultValue as Json }),
  };
}

export const isIdName = (name: string): boolean => /(?:^i|I|_i)ds?$/u.test(name);

type Shape = Pick<Property, "name" | "type" | "description" | "choices" | "inner">;

function isReferenceShape({ name, type, description, choices, inner }: Shape): boolean {
  if (choices.length > 0 || type === "boolean") return false;
  if (isIdName(name)) return true;
  if (type === "object") return inner.length > 0 && inner.some((property) => isIdName(property.name));
  return (type === "array" || type === "number") && /\bids?\b|\p{Ll}Ids?\b/u.test(description);
}

function parseChoices(schema: Record<string, unknown>): Json[] {
  if (schema.const !== undefined) return [schema.const as Json];
  if (Array.isArray(schema.enum)) return schema.enum.filter((value) => value !== null);
  const variants = schema.anyOf ?? schema.oneOf;
  return Array.isArray(variants) ? variants.filter(isRecord).flatMap(parseChoices) : [];
}

function parseType(schema: Record<string, unknown>): Pick<Property, "type" | "isInteger"> {
  const declaredType = Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;
  const variants = schema.anyOf ?? schema.oneOf;
  if (declaredType === undefined && Array.isArray(variants)) {
    const first = variants.filter(isRecord).find(({ type }) => type !== "null");
    if (first) return parseType(first);
  }
  const type =
    declaredType === "integer"
      ? "number"
      : declaredType === "number" ||
          declaredType === "boolean" ||
          declaredType === "array" ||
          declaredType === "object"
        ? declaredType
        : "string";
  return { type, isInteger: declaredType === "integer" };
}
