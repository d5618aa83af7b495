import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { type Static, Type } from "typebox";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Infer } from "../schema/schema.ts";
import { defineTool, type Tool, type ToolContext } from "./tool.ts";

/** One object type instead of an intersection, at every depth. */
type Plain<Value> = Value extends readonly unknown[]
  ? { [Key in keyof Value]: Plain<Value[Key]> }
  : Value extends object
    ? { -readonly [Key in keyof Value]: Plain<Value[Key]> }
    : Value;

type Trip = {
  city: string;
  days?: number;
  unit: "celsius" | "fahrenheit";
  place: { lat: number; label?: string };
  tags: string[];
  legs?: { to: string; km?: number }[];
};

/** The input type of `execute`. */
type InputOf<Definition> = Definition extends { execute(input: infer Input, context: ToolContext): unknown }
  ? Plain<Input>
  : never;

describe("the input of execute is inferred", () => {
  it("from a zod schema, with optional, nested, enum and list fields (S0-26)", () => {
    const trip = defineTool({
      name: "trip",
      description: "Plans a trip",
      input: z.object({
        city: z.string(),
        days: z.int().exactOptional(),
        unit: z.enum(["celsius", "fahrenheit"]),
        place: z.object({ lat: z.number(), label: z.string().exactOptional() }),
        tags: z.array(z.string()),
        legs: z.array(z.object({ to: z.string(), km: z.number().exactOptional() })).exactOptional(),
      }),
      execute(input) {
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "fahrenheit">();
        return input.place.lat;
      },
    });
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<Trip>();
  });

  it("from a zod schema: its output type, not its input type (S0-26)", () => {
    const tool = defineTool({
      name: "count",
      description: "Counts",
      input: z.object({ to: z.string().transform(Number), from: z.number().default(0) }),
      execute: ({ from, to }) => to - from,
    });
    expectTypeOf<InputOf<typeof tool>>().toEqualTypeOf<{ to: number; from: number }>();
  });

  it("from an arktype schema, with optional, nested, enum and list fields (S0-26, C-26)", () => {
    const trip = defineTool({
      name: "trip",
      description: "Plans a trip",
      input: type({
        city: "string",
        "days?": "number.integer",
        unit: "'celsius' | 'fahrenheit'",
        place: { lat: "number", "label?": "string" },
        tags: "string[]",
        "legs?": type({ to: "string", "km?": "number" }).array(),
      }),
      execute(input) {
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "fahrenheit">();
        return input.place.lat;
      },
    });
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<Trip>();
  });

  it("from a valibot schema with a separate JSON Schema (S0-26, C-26)", () => {
    const input = v.object({
      city: v.string(),
      days: v.exactOptional(v.number()),
      unit: v.picklist(["celsius", "fahrenheit"]),
      place: v.object({ lat: v.number(), label: v.exactOptional(v.string()) }),
      tags: v.array(v.string()),
      legs: v.exactOptional(v.array(v.object({ to: v.string(), km: v.exactOptional(v.number()) }))),
    });
    const trip = defineTool({
      name: "trip",
      description: "Plans a trip",
      input,
      jsonSchema: toJsonSchema(input),
      execute(input) {
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "fahrenheit">();
        return input.place.lat;
      },
    });
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<Trip>();
  });

  it("from a parameter record: optional unless required (S3-20, S3-23)", () => {
    const trip = defineTool({
      name: "trip",
      description: "Plans a trip",
      input: {
        city: { type: "string", description: "Where to", required: true },
        days: { type: "integer", required: false },
        unit: { type: "string", enum: ["celsius", "fahrenheit"], required: true },
        place: {
          type: "object",
          properties: { lat: { type: "number" }, label: { type: "string" } },
          required: ["lat"],
        },
        tags: { type: "array", items: { type: "string" }, required: true },
      },
      execute(input) {
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "fahrenheit">();
        return input.place?.lat;
      },
    });
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<{
      city: string;
      days?: number;
      unit: "celsius" | "fahrenheit";
      place?: { lat: number; label?: string };
      tags: string[];
    }>();
  });

  it("from a parameter record with a parameter named type (S3-20)", () => {
    const tool = defineTool({
      name: "find",
      description: "",
      input: { type: { type: "string", required: true }, limit: { type: "number" } },
      execute: ({ type }) => type,
    });
    expectTypeOf<InputOf<typeof tool>>().toEqualTypeOf<{ type: string; limit?: number }>();
  });

  it("not from an empty schema, which allows everything", () => {
    const tool = defineTool({ name: "any", description: "", input: {}, execute: (value) => value });
    expectTypeOf<Parameters<typeof tool.execute>[0]>().toBeUnknown();
  });

  it("from a TypeBox schema, with optional, nested, enum and list fields (S0-26)", () => {
    const input = Type.Object({
      city: Type.String(),
      days: Type.Optional(Type.Integer()),
      unit: Type.Enum(["celsius", "fahrenheit"]),
      place: Type.Object({ lat: Type.Number(), label: Type.Optional(Type.String()) }),
      tags: Type.Array(Type.String()),
      legs: Type.Optional(Type.Array(Type.Object({ to: Type.String(), km: Type.Optional(Type.Number()) }))),
    });
    const trip = defineTool({
      name: "trip",
      description: "Plans a trip",
      input,
      execute(input) {
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "fahrenheit">();
        return input.place.lat;
      },
    });
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<Trip>();
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<Static<typeof input>>();
  });

  it("from a TypeBox union of literals, null and an object of optional fields only (S0-26)", () => {
    const input = Type.Object({
      mode: Type.Optional(Type.Union([Type.Literal("fast"), Type.Literal("full"), Type.Null()])),
      strict: Type.Optional(Type.Boolean()),
    });
    expectTypeOf<Plain<Infer<typeof input>>>().toEqualTypeOf<{
      mode?: "fast" | "full" | null;
      strict?: boolean;
    }>();
  });

  it("from a JSON Schema literal, with optional, nested, enum and list fields (S0-26, S4-01)", () => {
    const trip = defineTool({
      name: "trip",
      description: "Plans a trip",
      input: {
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer" },
          unit: { enum: ["celsius", "fahrenheit"] },
          place: {
            type: "object",
            properties: { lat: { type: "number" }, label: { type: "string" } },
            required: ["lat"],
          },
          tags: { type: "array", items: { type: "string" } },
          legs: {
            type: "array",
            items: {
              type: "object",
              properties: { to: { type: "string" }, km: { type: "number" } },
              required: ["to"],
            },
          },
        },
        required: ["city", "unit", "place", "tags"],
      },
      execute(input) {
        expectTypeOf(input.unit).toEqualTypeOf<"celsius" | "fahrenheit">();
        return input.place.lat;
      },
    });
    expectTypeOf<InputOf<typeof trip>>().toEqualTypeOf<Trip>();
  });

  it("from JSON Schema with const, anyOf, a list of types and untyped parts (S0-26)", () => {
    const tool = defineTool({
      name: "mixed",
      description: "Takes much",
      input: {
        type: "object",
        properties: {
          kind: { const: "note" },
          id: { anyOf: [{ type: "string" }, { type: "number" }] },
          due: { type: ["string", "null"] },
          anything: {},
          bag: { type: "object" },
        },
        required: ["kind", "id", "due", "anything", "bag"],
      },
      execute: ({ kind }) => kind,
    });
    expectTypeOf<InputOf<typeof tool>>().toEqualTypeOf<{
      kind: "note";
      id: string | number;
      due: string | null;
      anything: unknown;
      bag: { [key: string]: unknown };
    }>();
  });

  it("not from a JSON Schema that is only known at run time", () => {
    const input: { [keyword: string]: unknown } = JSON.parse('{ "type": "object" }');
    const tool = defineTool({ name: "late", description: "Late", input, execute: (value) => value });
    expectTypeOf<Parameters<typeof tool.execute>[0]>().toBeUnknown();
  });
});

describe("a wrong property is a type error", () => {
  it("with zod (S0-26)", () => {
    defineTool({
      name: "a",
      description: "",
      input: z.object({ city: z.string() }),
      // @ts-expect-error: `town` does not exist
      execute: ({ town }) => town,
    });
  });

  it("with TypeBox (S0-26)", () => {
    defineTool({
      name: "a",
      description: "",
      input: Type.Object({ city: Type.String() }),
      // @ts-expect-error: `town` does not exist
      execute: ({ town }) => town,
    });
  });

  it("with JSON Schema (S0-26)", () => {
    defineTool({
      name: "a",
      description: "",
      input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      // @ts-expect-error: `town` does not exist
      execute: ({ town }) => town,
    });
  });

  it("with arktype, valibot and a parameter record (C-26, S3-20)", () => {
    defineTool({
      name: "a",
      description: "",
      input: type({ city: "string" }),
      // @ts-expect-error: `town` does not exist
      execute: ({ town }) => town,
    });
    defineTool({
      name: "a",
      description: "",
      input: v.object({ city: v.string() }),
      jsonSchema: {},
      // @ts-expect-error: `town` does not exist
      execute: ({ town }) => town,
    });
    defineTool({
      name: "a",
      description: "",
      input: { city: { type: "string", required: true } },
      // @ts-expect-error: `town` does not exist
      execute: ({ town }) => town,
    });
  });

  it("in a record of zod schemas, which is rejected: its type says what to do instead", () => {
    defineTool({
      name: "a",
      description: "",
      input: { city: z.string(), days: z.number() },
      // @ts-expect-error: `city` does not exist, because the record is not a schema
      execute: ({ city }) => city,
    });
    expectTypeOf<Infer<{ city: z.ZodString }>>().toExtend<`${string}wrap it in z.object({ … })`>();
  });

  it("in needsApproval", () => {
    defineTool({
      name: "a",
      description: "",
      input: z.object({ amount: z.number() }),
      needsApproval: ({ amount }) => amount > 100,
    });
    defineTool({
      name: "a",
      description: "",
      input: z.object({ amount: z.number() }),
      // @ts-expect-error: `price` does not exist
      needsApproval: ({ price }) => price > 100,
    });
  });

  it("in the settings of a tool", () => {
    // @ts-expect-error: effects are none, ui, state or send
    defineTool({ name: "a", description: "", input: z.object({}), effects: "write" });
    // @ts-expect-error: a number is not a schema
    defineTool({ name: "a", description: "", input: 5 });
    // @ts-expect-error: a tool needs a description
    defineTool({ name: "a", input: z.object({}) });
  });
});

describe("the return value of defineTool", () => {
  it("is a Tool that can also be called with its typed input", () => {
    const tool = defineTool({
      name: "double",
      description: "",
      input: z.object({ n: z.number() }),
      execute: ({ n }): number => 2 * n,
    });
    expectTypeOf(tool).toExtend<Tool>();
    expectTypeOf(tool.execute).returns.toEqualTypeOf<number>();
    expectTypeOf(tool.execute).parameter(0).toEqualTypeOf<{ n: number }>();
  });

  it("has no execute to call when the client runs it", () => {
    const tool = defineTool({ name: "pick", description: "", input: z.object({ title: z.string() }) });
    expectTypeOf(tool).toExtend<Tool>();
    expectTypeOf(tool.execute).toEqualTypeOf<Tool["execute"]>();
    // @ts-expect-error: it may be undefined
    tool.execute({ title: "x" }, {} as ToolContext);
  });

  it("types the context of execute", () => {
    defineTool({
      name: "a",
      description: "",
      input: z.object({}),
      execute: (_input, context) => expectTypeOf(context).toEqualTypeOf<ToolContext>(),
    });
  });
});
