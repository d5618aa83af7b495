import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema } from "./compile-schema.ts";
import { compileQuickCheck } from "./quick-check.ts";
import { createValidator, loadValidator } from "./validator.ts";

const compile = (schema: object) => compileQuickCheck(compileSchema(schema, "a test"));

const keys = fc.constantFrom("a", "b", "toString", "__proto__");
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 0, 1, 2.5, -3, "", "a", "😀", "😀b", "abc"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(keys, tie("value")), { maxLength: 3 }).map((pairs) => {
      const made: Record<string, unknown> = {};
      // As JSON.parse does: "__proto__" is an ordinary key.
      for (const [key, value] of pairs) Object.defineProperty(made, key, { value, ...own });
      return made;
    }),
  ),
})).value;
const own = { enumerable: true, configurable: true, writable: true };

const limit = fc.integer({ min: 0, max: 3 });
const names = fc.constantFrom("a", "b", "toString");
const types = fc.constantFrom("string", "number", "integer", "boolean", "array", "object", "null");
/** Schemas of few keywords, so that some values are valid. */
const schemas = fc.letrec<{ schema: object }>((tie) => {
  const inner = fc.oneof({ depthSize: "small" }, fc.constant({}), tie("schema"));
  const keywords = {
    ...{ type: types, enum: fc.array(values, { minLength: 1, maxLength: 3 }), const: values },
    ...{
      minimum: limit,
      maximum: limit,
      minLength: limit,
      maxLength: limit,
      minItems: limit,
      maxItems: limit,
    },
    items: inner,
    properties: fc.dictionary(names, inner, { maxKeys: 2 }),
    required: fc.array(names, { maxLength: 2 }),
    additionalProperties: fc.boolean(),
  };
  const chosen = fc.subarray(Object.keys(keywords), { maxLength: 3 });
  const pick = (all: object, kept: readonly string[]) =>
    Object.fromEntries(Object.entries(all).filter(([keyword]) => kept.includes(keyword)));
  return { schema: fc.tuple(fc.record(keywords), chosen).map(([all, kept]) => pick(all, kept)) };
}).schema;

describe("A quick check", () => {
  it("accepts no value that the validator rejects", async () => {
    let accepted = 0;
    const accepts = async (schema: object, value: unknown) => {
      const compiled = compileSchema(schema, "a test");
      if (!compileQuickCheck(compiled)?.(value)) return;
      accepted += 1;
      expect((await loadValidator(compiled, "a test"))(value)).toEqual([]);
    };
    await fc.assert(fc.asyncProperty(schemas, values, accepts), { numRuns: 3000 });
    expect(accepted).toBeGreaterThan(300);
  });

  it("accepts the usual input of a tool", () => {
    const check = compile({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        city: { type: "string", description: "Where", minLength: 1 },
        days: { type: "integer", minimum: 1, maximum: 14 },
        units: { enum: ["metric", "imperial"] },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["city"],
      additionalProperties: false,
    });
    expect(check?.({ city: "Oslo", days: 3, units: "metric", tags: ["a"] })).toBe(true);
    expect(check?.({ city: "Oslo", days: 3.5 })).toBe(false);
    expect(check?.({ days: 3 })).toBe(false);
    expect(check?.({ city: "Oslo", country: "Norway" })).toBe(false);
    expect(check?.({ city: "Oslo", tags: [1] })).toBe(false);
  });

  it.each([
    { anyOf: [{ type: "string" }] },
    { pattern: "^a" },
    { format: "date" },
    { $ref: "#/$defs/a", $defs: { a: {} } },
    { patternProperties: { "^a": { type: "string" } } },
    { type: ["string", "null"] },
    { properties: { a: { not: {} } } },
  ])("is not made of %j", (schema) => {
    expect(compile(schema)).toBeUndefined();
  });

  it("is used before the validator, which explains what is wrong", async () => {
    const validate = createValidator({ type: "object", properties: { a: { type: "string" } } }, "a test");
    expect(validate({ a: "b" })).toEqual([]);
    expect(await validate({ a: 1 })).toEqual([expect.stringMatching(/^a: /)]);
  });
});
