import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type SchemaInput, type StandardSchema, toSchema } from "./schema.ts";

/** The same schema, said three times. */
const schemas: { readonly [library: string]: SchemaInput } = {
  zod: z.strictObject({
    city: z.string().min(2),
    days: z.int().min(1).max(7).optional(),
    unit: z.enum(["celsius", "fahrenheit"]),
    place: z.strictObject({ lat: z.number(), label: z.string().optional() }).optional(),
    tags: z.array(z.string()).optional(),
  }),
  TypeBox: Type.Object(
    {
      city: Type.String({ minLength: 2 }),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })),
      unit: Type.Enum(["celsius", "fahrenheit"]),
      place: Type.Optional(
        Type.Object(
          { lat: Type.Number(), label: Type.Optional(Type.String()) },
          { additionalProperties: false },
        ),
      ),
      tags: Type.Optional(Type.Array(Type.String())),
    },
    { additionalProperties: false },
  ),
  "JSON Schema": {
    type: "object",
    properties: {
      city: { type: "string", minLength: 2 },
      days: { type: "integer", minimum: 1, maximum: 7 },
      unit: { enum: ["celsius", "fahrenheit"] },
      place: {
        type: "object",
        properties: { lat: { type: "number" }, label: { type: "string" } },
        required: ["lat"],
        additionalProperties: false,
      },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["city", "unit"],
    additionalProperties: false,
  },
};

const valid: { readonly [what: string]: unknown } = {
  "only what is required": { city: "Oslo", unit: "celsius" },
  everything: {
    city: "Oslo",
    days: 7,
    unit: "fahrenheit",
    place: { lat: 59.9, label: "Oslo S" },
    tags: ["a", "b"],
  },
  "an empty list and a nested object without its optional field": {
    city: "Oslo",
    unit: "celsius",
    place: { lat: 0 },
    tags: [],
  },
};

/** What is wrong, a value that is wrong in this way, and what the one issue must name. */
const invalid: readonly (readonly [string, unknown, readonly RegExp[]])[] = [
  ["a missing field", { unit: "celsius" }, [/city/, /required|expected string/]],
  ["a wrong type", { city: 5, unit: "celsius" }, [/city/, /string/, /number/]],
  ["a text that is too short", { city: "O", unit: "celsius" }, [/city/, /short|small/, /2/]],
  ["a fraction for a whole number", { city: "Oslo", unit: "celsius", days: 1.5 }, [/days/, /int/]],
  ["a number out of range", { city: "Oslo", unit: "celsius", days: 8 }, [/days/, /7/]],
  ["a value that is no choice", { city: "Oslo", unit: "kelvin" }, [/unit/, /celsius/, /fahrenheit/]],
  ["a missing nested field", { city: "Oslo", unit: "celsius", place: {} }, [/place/, /lat/]],
  [
    "a wrong nested type",
    { city: "Oslo", unit: "celsius", place: { lat: "x" } },
    [/place\.lat/, /number/, /string/],
  ],
  ["a wrong item", { city: "Oslo", unit: "celsius", tags: ["a", 2] }, [/tags\.1/, /string/, /number/]],
  ["a list that is none", { city: "Oslo", unit: "celsius", tags: "a" }, [/tags/, /array/, /string/]],
  [
    "a field too many",
    { city: "Oslo", unit: "celsius", wind: 3 },
    [/wind/, /unrecognized|not allowed|unknown|additional/i],
  ],
  ["a list instead of an object", ["Oslo"], [/object/, /array/]],
  ["null", null, [/object/, /null/]],
];

describe.each(Object.entries(schemas))("a schema in %s", (_library, input) => {
  it.each(Object.entries(valid))("accepts %s and gives it back (S0-26)", async (_what, value) => {
    expect(await toSchema(input).validate(value)).toEqual({ valid: true, value });
  });

  it.each(
    invalid,
  )("refuses %s with one issue that names the field and the fault (S0-26)", async (_what, value, named) => {
    const result = await toSchema(input).validate(value);
    const issues = result.valid ? [] : result.issues;
    expect(issues).toHaveLength(1);
    for (const pattern of named) expect(issues[0]).toMatch(pattern);
    expect(issues[0]).not.toMatch(/schema/i);
  });

  it("names every fault of a value, each once (S0-26)", async () => {
    const result = await toSchema(input).validate({ city: 5, unit: "kelvin", days: 0 });
    const issues = result.valid ? [] : result.issues;
    expect(issues.map((issue) => issue.split(":")[0]).sort()).toEqual(["city", "days", "unit"]);
  });

  it("gives JSON Schema that tells the required fields and their types (S0-26, S4-01)", () => {
    const { json } = toSchema(input);
    expect(JSON.parse(JSON.stringify(json))).toMatchObject({
      type: "object",
      properties: {
        city: { type: "string", minLength: 2 },
        days: { type: "integer", minimum: 1, maximum: 7 },
        unit: { enum: ["celsius", "fahrenheit"] },
        place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["city", "unit"],
    });
  });
});

describe("a Standard Schema", () => {
  it("gives what it makes of the value: defaults and transformations (S0-26)", async () => {
    const schema = toSchema(z.object({ n: z.string().transform(Number), unit: z.string().default("m") }));
    expect(await schema.validate({ n: "4" })).toEqual({ valid: true, value: { n: 4, unit: "m" } });
  });

  it("shows the model what may be written, not what comes out of it (S0-26)", () => {
    const { json } = toSchema(z.object({ unit: z.string().default("m") }));
    expect(json).not.toHaveProperty("required");
  });

  it("may validate asynchronously", async () => {
    const known = z.string().refine(async (city) => city === "Oslo", "is not a known city");
    const schema = toSchema(z.object({ city: known }));
    expect(await schema.validate({ city: "Oslo" })).toEqual({ valid: true, value: { city: "Oslo" } });
    expect(await schema.validate({ city: "Olso" })).toEqual({
      valid: false,
      issues: ["city: is not a known city"],
    });
  });

  it("may be a function, and may tell its path as objects with a key", async () => {
    const callable: StandardSchema = Object.assign(() => undefined, {
      "~standard": {
        vendor: "callable",
        validate: () => ({ issues: [{ message: "must be even", path: [{ key: "list" }, 0] }] }),
        jsonSchema: { input: () => ({ type: "object" }) },
      },
    });
    const schema = toSchema(callable);
    expect(schema.json).toEqual({ type: "object" });
    expect(await schema.validate({})).toEqual({ valid: false, issues: ["list.0: must be even"] });
  });

  it("without its JSON Schema is refused by the name of its library and with a way out", () => {
    const valibotLike = {
      "~standard": { version: 1, vendor: "valibot", validate: (value: unknown) => ({ value }) },
    };
    expect(() => toSchema(valibotLike)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        message:
          "This valibot schema does not give its JSON Schema. Use a library that does (zod 4, arktype) or plain JSON Schema.",
      }),
    );
  });
});

describe("JSON Schema", () => {
  it("may refer to its own definitions; the issue names the field once (S0-26)", async () => {
    const schema = toSchema({
      type: "object",
      properties: { from: { $ref: "#/$defs/place" } },
      $defs: { place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] } },
    });
    expect(await schema.validate({ from: { lat: 1 } })).toEqual({ valid: true, value: { from: { lat: 1 } } });
    const result = await schema.validate({ from: { lat: "north" } });
    expect(result).toEqual({
      valid: false,
      issues: [expect.stringMatching(/^from\.lat: .*string.*number/)],
    });
  });

  it("names a field as it is called, whatever characters it has", async () => {
    const schema = toSchema({ type: "object", properties: { "km/h": { type: "number" } } });
    expect(await schema.validate({ "km/h": "fast" })).toEqual({
      valid: false,
      issues: [expect.stringMatching(/^km\/h: /)],
    });
  });

  it("of an untyped kind allows everything", async () => {
    expect(await toSchema({}).validate({ a: [1, null] })).toEqual({ valid: true, value: { a: [1, null] } });
  });
});

it.each([[undefined], [null], [5], ["object"], [[]]])("%j is no schema and is refused by name", (input) => {
  expect(() => toSchema(input as unknown as SchemaInput)).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      message: expect.stringMatching(/^An input schema must be JSON Schema, TypeBox, or a Standard Schema/),
    }),
  );
});
