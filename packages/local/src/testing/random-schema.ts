import type { JsonSchema } from "capstan";

type Random = () => number;

const patterns = [
  "^[a-z]{2,5}$",
  "^(ab|cd)+$",
  "^\\d{3}-\\d{2}$",
  "[A-Z]\\w*",
  '^[^"x]{1,4}$',
  "^a.c?$",
  "^é+\\s?ß$",
];
const formats = [
  ...["date", "time", "date-time", "duration", "uri", "email", "hostname", "ipv4", "ipv6", "uuid", "regex"],
  ...["json-pointer", "relative-json-pointer", "uri-reference", "uri-template", "json-pointer-uri-fragment"],
];
const constants = [
  "red",
  "gr\u00fcn",
  'a "quoted" text',
  "back\\slash",
  "emoji \u{1f600}",
  7,
  -1.5,
  true,
  null,
  "tab\t",
  "",
];

/** Returns a schema of an object, as a tool's input has it. The same random numbers give the same schema. */
export function createRandomSchema(random: Random): JsonSchema {
  const definitions = {
    leaf: createLeaf(random),
    tree: {
      type: "object",
      properties: {
        value: createLeaf(random),
        children: { type: "array", items: { $ref: "#/$defs/tree" }, maxItems: 2 },
      },
      required: ["value"],
      additionalProperties: false,
    },
  };
  return { ...createObject(random, 2), $defs: definitions };
}

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;
const int = (random: Random, max: number): number => Math.floor(random() * (max + 1));

function createObject(random: Random, depth: number): JsonSchema {
  const names = ["a", "b-c", "d e", "\u00e9", "name", 'x"y'].slice(0, 1 + int(random, 5));
  const properties = Object.fromEntries(names.map((name) => [name, createSchema(random, depth - 1)]));
  const required = names.filter(() => random() < 0.5);
  return {
    type: "object",
    properties,
    required,
    ...(random() < 0.5 && { additionalProperties: false }),
    ...(random() < 0.2 && { minProperties: Math.min(names.length, 1 + int(random, 2)) }),
    ...(random() < 0.2 && { maxProperties: Math.max(required.length, 3) }),
  };
}

function createSchema(random: Random, depth: number): JsonSchema {
  if (depth <= 0) return random() < 0.2 ? { $ref: "#/$defs/leaf" } : createLeaf(random);
  const kinds: readonly (() => JsonSchema)[] = [
    () => createObject(random, depth),
    () => createArray(random, depth),
    () => ({ anyOf: [createSchema(random, depth - 1), createLeaf(random), { type: "null" }] }),
    () => createUnion(random, depth),
    () => ({ $ref: "#/$defs/tree" }),
    () => ({ $ref: "#/$defs/leaf", description: "A leaf" }),
    () => ({
      allOf: [createObject(random, 1), { type: "object", properties: { more: createLeaf(random) } }],
    }),
    () => ({ type: "object", additionalProperties: createLeaf(random), maxProperties: 3 }),
    () => ({ type: ["object", "null"], properties: { deep: createSchema(random, depth - 1) } }),
    () => createLeaf(random),
  ];
  return pick(random, kinds)();
}

function createUnion(random: Random, depth: number): JsonSchema {
  const branch = (kind: string) => ({
    type: "object",
    properties: { kind: { const: kind }, value: createSchema(random, depth - 1) },
    required: ["kind", "value"],
    additionalProperties: false,
  });
  return { oneOf: [branch("one"), branch("two")] };
}

function createArray(random: Random, depth: number): JsonSchema {
  const minItems = int(random, 2);
  if (random() < 0.2)
    return { type: "array", prefixItems: [createLeaf(random), createLeaf(random)], items: false };
  if (random() < 0.3)
    return { type: "array", items: { enum: ["x", "y", "z", 1] }, uniqueItems: true, minItems, maxItems: 3 };
  return {
    type: "array",
    items: createSchema(random, depth - 1),
    minItems,
    maxItems: minItems + int(random, 3),
  };
}

function createLeaf(random: Random): JsonSchema {
  const low = int(random, 2000) - 1000;
  const minLength = int(random, 3);
  const kinds: readonly (() => JsonSchema)[] = [
    () => ({ type: "string", maxLength: 12 }),
    () => ({ type: "string", minLength, maxLength: minLength + int(random, 40) }),
    () => ({ type: "string", pattern: pick(random, patterns) }),
    () => ({ type: "string", pattern: "^[a-z0-9_]+$", minLength, maxLength: 9 }),
    () => ({ type: "string", format: pick(random, formats) }),
    () => ({ type: "integer" }),
    () => ({ type: "integer", minimum: low, maximum: low + int(random, 3000) }),
    () => ({ type: "integer", exclusiveMinimum: low, multipleOf: 1 + int(random, 30) }),
    () => ({ type: "number" }),
    () => ({ type: "number", minimum: low + 0.5, exclusiveMaximum: low + 0.6 + int(random, 50) }),
    () => ({ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }),
    () => ({ type: "number", minimum: -3, maximum: 2.5, multipleOf: 0.25 }),
    () => ({ type: "boolean" }),
    () => ({ enum: [pick(random, constants), pick(random, constants), pick(random, constants)] }),
    () => ({ const: pick(random, constants) }),
    () => ({ type: ["string", "integer", "null"], maxLength: 4, maximum: 9 }),
    () => ({}),
  ];
  return pick(random, kinds)();
}
