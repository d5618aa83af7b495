import { isRecord, type Json, type ToolSpec } from "capstan";

/** One argument of a tool, as its JSON Schema tells it. */
export type Property = {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "array" | "object";
  readonly required: boolean;
  readonly description: string;
  /** The values it may have, of a list those of its members. Empty: any. */
  readonly choices: readonly Json[];
  readonly isInteger: boolean;
  readonly wantsHex: boolean;
  /** It stands for something that has an id: people say its name. */
  readonly isReference: boolean;
  /** Of an object: what it is made of. */
  readonly inner: readonly Property[];
  /** Of a list: what its members are. */
  readonly member?: Property;
  readonly fallback?: Json;
  /** Of a list: how many members it has at least. */
  readonly least: number;
};

const known = new WeakMap<object, readonly Property[]>();

/** The arguments of a tool, in the order of its schema. */
export function propertiesOf({ input }: Pick<ToolSpec, "input">): readonly Property[] {
  const read = known.get(input) ?? propertiesIn(input);
  known.set(input, read);
  return read;
}

function propertiesIn(schema: unknown): Property[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  // An argument of this name could not be set on a plain object.
  const named = Object.entries(schema.properties).filter(([name]) => name !== "__proto__");
  return named.map(([name, value]) => propertyOf(name, isRecord(value) ? value : {}, required.has(name)));
}

function propertyOf(name: string, schema: Record<string, unknown>, required: boolean): Property {
  const items = isRecord(schema.items) ? schema.items : {};
  const description = typeof schema.description === "string" ? schema.description : "";
  const choices = choicesOf(schema).concat(choicesOf(items));
  const fallback = schema.default ?? (required && choices.length === 1 ? choices[0] : undefined);
  const { type, isInteger } = typeOf(schema);
  const inner = type === "object" ? propertiesIn(schema) : [];
  const member = type === "array" ? propertyOf(name, items, true) : undefined;
  const shape = { name, type, required, description, choices, isInteger, inner };
  return {
    ...shape,
    wantsHex: /hex|#[0-9a-f]{3}/iu.test(description) || String(schema.pattern ?? "").includes("^#"),
    isReference: isReference(shape),
    least: typeof schema.minItems === "number" ? schema.minItems : 0,
    ...(member && { member: { ...member, isReference: isReference({ ...shape, type: member.type }) } }),
    ...(fallback !== undefined && { fallback: fallback as Json }),
  };
}

export const isIdName = (name: string): boolean => /(?:^i|I|_i)ds?$/u.test(name);

type Shape = Pick<Property, "name" | "type" | "description" | "choices" | "inner">;

function isReference({ name, type, description, choices, inner }: Shape): boolean {
  if (choices.length > 0 || type === "boolean") return false;
  if (isIdName(name)) return true;
  if (type === "object") return inner.length > 0 && inner.some((property) => isIdName(property.name));
  return (type === "array" || type === "number") && /\bids?\b|\p{Ll}Ids?\b/u.test(description);
}

function choicesOf(schema: Record<string, unknown>): Json[] {
  if (schema.const !== undefined) return [schema.const as Json];
  if (Array.isArray(schema.enum)) return schema.enum.filter((value) => value !== null);
  const variants = schema.anyOf ?? schema.oneOf;
  return Array.isArray(variants) ? variants.filter(isRecord).flatMap(choicesOf) : [];
}

function typeOf(schema: Record<string, unknown>): Pick<Property, "type" | "isInteger"> {
  const told = Array.isArray(schema.type) ? schema.type.find((type) => type !== "null") : schema.type;
  const variants = schema.anyOf ?? schema.oneOf;
  if (told === undefined && Array.isArray(variants)) {
    const first = variants.filter(isRecord).find(({ type }) => type !== "null");
    if (first) return typeOf(first);
  }
  const type =
    told === "integer"
      ? "number"
      : told === "number" || told === "boolean" || told === "array" || told === "object"
        ? told
        : "string";
  return { type, isInteger: told === "integer" };
}
