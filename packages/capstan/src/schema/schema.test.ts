import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { Type } from "typebox";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, type ToolContext } from "../kernel/tool.ts";
import { schemaSuite } from "../testing/schema-suite.ts";
import { type SchemaInput, type StandardSchema, toSchema } from "./schema.ts";

schemaSuite("zod", {
  schema: z.strictObject({
    city: z.string().min(2),
    days: z.int().min(1).max(7).optional(),
    unit: z.enum(["celsius", "fahrenheit"]),
    place: z.strictObject({ lat: z.number(), label: z.string().optional() }).optional(),
    tags: z.array(z.string()).optional(),
  }),
  otherKeys: "refused",
});

schemaSuite("arktype", {
  schema: type({
    "+": "reject",
    city: "string >= 2",
    "days?": "1 <= number.integer <= 7",
    unit: "'celsius' | 'fahrenheit'",
    "place?": { "+": "reject", lat: "number", "label?": "string" },
    "tags?": "string[]",
  }),
  otherKeys: "refused",
});

const valibot = v.strictObject({
  city: v.pipe(v.string(), v.minLength(2)),
  days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(7))),
  unit: v.picklist(["celsius", "fahrenheit"]),
  place: v.optional(v.strictObject({ lat: v.number(), label: v.optional(v.string()) })),
  tags: v.optional(v.array(v.string())),
});
schemaSuite("valibot", { schema: valibot, jsonSchema: toJsonSchema(valibot), otherKeys: "refused" });

schemaSuite("TypeBox", {
  schema: Type.Object(
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
  otherKeys: "refused",
});

const place = {
  type: "object",
  properties: { lat: { type: "number" }, label: { type: "string" } },
  required: ["lat"],
  additionalProperties: false,
} as const;

schemaSuite("JSON Schema", {
  schema: {
    type: "object",
    properties: {
      city: { type: "string", minLength: 2 },
      days: { type: "integer", minimum: 1, maximum: 7 },
      unit: { enum: ["celsius", "fahrenheit"] },
      place,
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["city", "unit"],
    additionalProperties: false,
  },
  otherKeys: "refused",
});

schemaSuite("a parameter record", {
  schema: {
    city: { type: "string", description: "Where to", required: true, minLength: 2 },
    days: { type: "integer", minimum: 1, maximum: 7 },
    unit: { type: "string", required: true, enum: ["celsius", "fahrenheit"] },
    place,
    tags: { type: "array", items: { type: "string" } },
  },
  otherKeys: "let through",
});

describe("a Standard Schema", () => {
  it("returns the transformed value, with defaults (S0-26)", async () => {
    const schema = toSchema(z.object({ n: z.string().transform(Number), unit: z.string().default("m") }));
    expect(await schema.validate({ n: "4" })).toEqual({ valid: true, value: { n: 4, unit: "m" } });
  });

  it("sends the input type to the model, not the output type (S0-26)", () => {
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

  it("may be a function, and may report its path as objects with a key", async () => {
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

  it("reports the path of an issue once, even if the library repeats it in the message (S0-26)", async () => {
    const schema = toSchema(type({ legs: type({ to: "string" }).array() }));
    expect(await schema.validate({ legs: [{ to: 1 }] })).toEqual({
      valid: false,
      issues: ["legs.0.to: must be a string (was a number)"],
    });
  });

  it("without its JSON Schema is rejected, with the name of its library and a hint (C-26)", () => {
    expect(() => toSchema(valibot)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        message:
          "This valibot schema does not provide its JSON Schema. Pass it as jsonSchema, or use a library that provides it (zod 4, arktype).",
      }),
    );
  });

  it("sends the given JSON Schema to the model and still validates itself (C-26)", async () => {
    const schema = toSchema(z.object({ city: z.string() }), {
      jsonSchema: { type: "object", title: "Trip" },
    });
    expect(schema.json).toEqual({ type: "object", title: "Trip" });
    expect(await schema.validate({})).toMatchObject({ valid: false });
  });

  it("is rejected when its JSON Schema is too large", () => {
    const jsonSchema = { type: "object", description: "x".repeat(1_000_001) };
    expect(() => toSchema(valibot, { jsonSchema, owner: 'the tool "trip"' })).toThrow(
      'The schema of the tool "trip" is larger than 1000000 characters.',
    );
  });
});

describe("a tool", () => {
  it("accepts a library schema with separate JSON Schema (C-26)", async () => {
    const input = v.object({ city: v.string() });
    const tool = defineTool({
      name: "weather",
      description: "Current weather",
      input,
      jsonSchema: toJsonSchema(input),
      execute: ({ city }) => city,
    });
    expect(tool.schema.json).toMatchObject({ type: "object", required: ["city"] });
    expect(tool).not.toHaveProperty("jsonSchema");
    expect(await tool.schema.validate({ city: 5 })).toMatchObject({ valid: false });
  });

  it("has a name, a description, JSON Schema, and something to run (S0-30, S0-31)", async () => {
    const input = Type.Object({ n: Type.Number() });
    const double = defineTool({ name: "double", description: "2n", input, execute: async ({ n }) => 2 * n });
    expect(double).toMatchObject({ name: "double", description: "2n", schema: { json: input } });
    expect(await double.execute({ n: 2 }, {} as ToolContext)).toBe(4);
  });

  it("may be made from a registry of commands (S2-17, S3-20)", () => {
    const commands = {
      queryGraph: {
        about: "Counts",
        parameters: { query: { type: "string", required: true } },
        run: (input: unknown) => input,
      },
      sampleData: {
        about: "Samples",
        parameters: { count: { type: "integer" } },
        run: (input: unknown) => input,
      },
    } as const;
    const tools = Object.entries(commands).map(([name, { about, parameters, run }]) =>
      defineTool({ name, description: about, input: parameters, execute: run }),
    );
    expect(tools.map(({ name, description, schema }) => ({ name, description, input: schema.json }))).toEqual(
      [
        {
          name: "queryGraph",
          description: "Counts",
          input: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
        },
        {
          name: "sampleData",
          description: "Samples",
          input: { type: "object", properties: { count: { type: "integer" } } },
        },
      ],
    );
  });
});

it("jsonSchema next to a JSON Schema input is rejected as ambiguous", () => {
  expect(() => toSchema({ type: "object" }, { jsonSchema: { type: "object" } })).toThrow(
    expect.objectContaining({ code: "invalid_definition" }),
  );
});

it.each([[undefined], [null], [5], ["object"], [[]]])("%j is rejected as an invalid schema", (input) => {
  expect(() => toSchema(input as unknown as SchemaInput)).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      message: expect.stringMatching(/^An input schema must be JSON Schema, TypeBox, a parameter record, or/),
    }),
  );
});

it.each([
  [{ city: "string" }],
  [{ query: { description: "what to find", required: true } }],
])("%j is neither JSON Schema nor a parameter record, and is rejected", (input) => {
  expect(() => toSchema(input)).toThrow(
    expect.objectContaining({
      code: "invalid_definition",
      message: expect.stringContaining("has no JSON Schema keyword and is not a parameter record"),
    }),
  );
});

describe("a library's schemas inside a plain object", () => {
  const owner = 'the tool "weather"';

  it.each<[what: string, input: object, message: string]>([
    [
      "a shape of zod, as MCP takes it",
      { city: z.string().min(3), days: z.number().int() },
      '"city" in the schema of the tool "weather" is a zod schema inside a plain object: wrap the object in z.object({ … }).',
    ],
    ["one that is no type of JSON", { on: z.date() }, '"on" in the schema of the tool "weather" is a zod'],
    ["one of valibot", { city: v.string() }, "wrap the object in v.object({ … })"],
    ["one of arktype", { city: type("string") }, "wrap the object in type({ … })"],
    ["one beside parameters", { day: { type: "string" }, city: z.string() }, '"city" in the schema'],
    [
      "one in JSON Schema",
      { type: "object", properties: { tags: { type: "array", items: z.string() } } },
      '"properties.tags.items" in the schema',
    ],
    [
      "one of a zod that is no Standard Schema",
      { city: { _def: { typeName: "ZodString" }, safeParse: () => ({}) } },
      "wrap the object in z.object({ … })",
    ],
  ])("are rejected: %s", (_what, input, message) => {
    expect(() => toSchema(input, { owner })).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining(message) }),
    );
  });

  it("are not detected in data that only looks similar", () => {
    const input = { type: "object", properties: { city: { "~standard": { vendor: "zod" } } } };
    expect(() => toSchema(input, { owner })).not.toThrow();
  });
});

describe("a library schema that JSON Schema cannot express", () => {
  const boat = z.object({
    get tows() {
      return boat;
    },
    built: z.date(),
  });
  const owner = 'the tool "weather"';

  it.each<[what: string, input: SchemaInput, message: string]>([
    [
      "a date",
      z.object({ city: z.string(), on: z.date() }),
      '"on" in the schema of the tool "weather" cannot be expressed as JSON Schema (Date cannot be represented in JSON Schema). A model writes JSON: use a string for a date, such as z.iso.datetime(), and a string or number for a bigint.',
    ],
    ["a date made of a text", z.object({ on: z.coerce.date() }), '"on" in the schema of'],
    ["a bigint", z.object({ sum: z.bigint() }), '"sum" in the schema of'],
    ["a type of one's own", z.object({ boat: z.custom() }), '"boat" in the schema of'],
    ["one deeper inside", z.object({ trip: z.object({ on: z.date() }) }), '"trip.on" in the schema of'],
    ["one in a list", z.object({ days: z.array(z.date()) }), '"days" in the schema of'],
    ["one beside itself", boat, '"built" in the schema of'],
    ["no object at all", z.date(), 'The schema of the tool "weather" cannot be expressed as JSON Schema'],
  ])("is rejected with owner and field: %s", (_what, input, message) => {
    expect(() => toSchema(input, { owner })).toThrow(
      expect.objectContaining({ code: "invalid_definition", message: expect.stringContaining(message) }),
    );
  });

  it("is accepted with a separate JSON Schema", async () => {
    const schema = toSchema(z.object({ on: z.coerce.date() }), { jsonSchema: { type: "object" } });
    expect(await schema.validate({ on: "2026-01-01" })).toEqual({
      valid: true,
      value: { on: new Date("2026-01-01") },
    });
  });
});
