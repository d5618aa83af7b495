import type { ToolSpec } from "capstan";
import fc from "fast-check";

type Schema = ToolSpec["input"];

const noText: fc.Arbitrary<Schema> = fc.constantFrom<Schema>(
  { type: "boolean" },
  { type: "null" },
  { type: ["string", "null"], description: "A name, if there is one" },
  { const: "fixed" },
  { enum: ["a", "b", 3] },
  { $ref: "#/$defs/shared" },
  {},
);

const number: fc.Arbitrary<Schema> = fc.record(
  {
    type: fc.constantFrom("number", "integer"),
    minimum: fc.integer({ min: -5, max: 5 }),
    exclusiveMaximum: fc.integer({ min: 6, max: 100 }),
    multipleOf: fc.integer({ min: 1, max: 5 }),
    default: fc.integer(),
  },
  { requiredKeys: ["type"] },
);

const string: fc.Arbitrary<Schema> = fc.record(
  {
    type: fc.constant("string"),
    description: fc.string({ unit: "grapheme", maxLength: 20 }),
    format: fc.constantFrom("date-time", "email", "uri", "made-up"),
    pattern: fc.constantFrom("^[a-z]+$", "\\d{2,}"),
    maxLength: fc.nat({ max: 100 }),
  },
  { requiredKeys: ["type"] },
);

const key: fc.Arbitrary<string> = fc.constantFrom("q", "near", "place id", "größe", "k".repeat(70), "a-b");

const { object, any }: { object: fc.Arbitrary<Schema>; any: fc.Arbitrary<Schema> } = fc.letrec<{
  any: Schema;
  object: Schema;
}>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    string,
    number,
    noText,
    tie("object"),
    fc.record({ type: fc.constant("array"), items: tie("any"), minItems: fc.nat({ max: 2 }) }),
    fc.record({ anyOf: fc.array(tie("any"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("any"), { minLength: 1, maxLength: 2 }), description: fc.string() }),
    fc.record({ allOf: fc.array(tie("object"), { minLength: 1, maxLength: 2 }) }),
  ),
  object: fc.record(
    {
      type: fc.constant("object"),
      properties: fc.dictionary(key, tie("any"), { maxKeys: 4, noNullPrototype: true }),
      required: fc.uniqueArray(key, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), tie("any")),
    },
    { requiredKeys: ["type", "properties"] },
  ),
}));

const shared: Schema = { $defs: { shared: { type: "object", properties: { id: { type: "string" } } } } };

/** Schemas of objects, some with a choice at their root. */
export const randomSchema: fc.Arbitrary<Schema> = fc
  .oneof(
    { arbitrary: object, weight: 4 },
    fc.record({ anyOf: fc.array(object, { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.tuple(object, any) }),
  )
  .map((schema) => ({ ...schema, ...shared }));
