import type { JsonSchema } from "capstan";
import { createValidator } from "capstan/internal/verification";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "../testing/ask.ts";
import { createTinyModel, type TinyModel } from "../testing/tiny-model.ts";
import { createRules } from "./rules.ts";
import { addSchemaRules } from "./schema-rules.ts";

let tiny: TinyModel;
beforeAll(async () => {
  tiny = await createTinyModel();
});
afterAll(() => tiny.remove());

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more,
});

/** Has the random model write values of a schema: what the grammar allows shows up sooner or later. */
async function writeValues(schema: JsonSchema, count = 5): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  const isValid = createValidator(schema, "test");
  for (let seed = 0; seed < count; seed++) {
    const { text, finish } = await ask(tiny.model, {
      output: schema,
      settings: { seed, temperature: 1.5, effort: "none" },
    });
    expect(finish, text).toBe("end");
    const value: unknown = JSON.parse(text);
    expect(await isValid(value), text).toEqual([]);
    values.push(value);
  }
  return values;
}

describe("a grammar of a schema", () => {
  it.each<[string, JsonSchema]>([
    ["both ends of a range", object({ n: { type: "integer", minimum: -12, maximum: 305 } })],
    ["a range within one number of digits", object({ n: { type: "integer", minimum: 4711, maximum: 4812 } })],
    ["a fraction between two integers", object({ n: { type: "number", minimum: 0.21, maximum: 0.29 } })],
    ["a multiple that is not whole", object({ n: { type: "number", multipleOf: 0.1, minimum: 5 } })],
    ["a number below zero", object({ n: { type: "number", exclusiveMaximum: 0 } })],
    ["a very long text", object({ s: { type: "string", maxLength: 100_000 } })],
    ["a text of exactly 70 characters", object({ s: { type: "string", minLength: 70, maxLength: 70 } })],
    [
      "a pattern with open ends and a length",
      object({ s: { type: "string", pattern: "[ab]+-c*", minLength: 4, maxLength: 8 } }),
    ],
    [
      "a list of more than 30 items",
      object({ l: { type: "array", items: { enum: [1] }, minItems: 40, maxItems: 41 } }),
    ],
    [
      "several distinct items",
      object({ l: { type: "array", items: { enum: [1, 2, 3] }, uniqueItems: true, minItems: 2 } }),
    ],
    [
      "a limit on the number of properties",
      {
        type: "object",
        properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
        minProperties: 2,
        maxProperties: 2,
      },
    ],
    [
      "a required property that is not listed",
      { type: "object", required: ["x"], additionalProperties: { type: "boolean" } },
    ],
    [
      "references with keywords next to them",
      { ...object({ n: { $ref: "#/$defs/n", maximum: 3 } }), $defs: { n: { type: "integer", minimum: 2 } } },
    ],
    [
      "a list that contains itself",
      {
        ...object({ list: { $ref: "#/$defs/list" } }),
        $defs: { list: { type: "array", items: { $ref: "#/$defs/list" }, maxItems: 2 } },
      },
    ],
    [
      "conditions",
      {
        ...object({ kind: { enum: ["a", "b"] } }),
        if: { properties: { kind: { const: "b" } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { n: { type: "integer" } }, required: ["n"] },
      },
    ],
    ["constants that other keywords exclude", object({ s: { enum: ["a", "abc", 5], minLength: 2 } })],
    ["null, true and lists as constants", object({ s: { enum: [null, true, [1, { a: "ü" }]] } })],
    ["names that need escapes", object({ 'a"\\\n\u2028': { const: "\u0000\u007f" } })],
  ])("describes %s", async (_, schema) => {
    await writeValues(schema);
  });

  it("describes every value of a range, and no other", async () => {
    const values = await writeValues(object({ n: { type: "integer", minimum: 8, maximum: 11 } }), 40);
    expect(new Set(values.map((value) => (value as { n: number }).n))).toEqual(new Set([8, 9, 10, 11]));
  });

  it("takes either branch of a choice, and leaves optional properties out or in", async () => {
    const choice = { anyOf: [{ const: "x" }, { type: "boolean" }] };
    const values = await writeValues({ type: "object", properties: { a: choice } }, 120);
    const seen = new Set(values.map((value) => JSON.stringify(value)));
    expect(seen).toEqual(new Set(["{}", '{"a":"x"}', '{"a":true}', '{"a":false}']));
  });

  it.each<[string, string, JsonSchema]>([
    ["not", "/properties/n", object({ n: { not: { const: 1 } } })],
    ["contains", "/properties/l", object({ l: { type: "array", contains: { const: 1 } } })],
    ["propertyNames", "/", { type: "object", propertyNames: { maxLength: 3 } }],
    ["dependentRequired", "/", { type: "object", dependentRequired: { a: ["b"] } }],
    ["oneOf", "/properties/v", object({ v: { oneOf: [{ type: "integer" }, { minimum: 3 }] } })],
    ["uniqueItems", "/properties/l", object({ l: { type: "array", uniqueItems: true, minItems: 2 } })],
    ["pattern", "/properties/s", object({ s: { type: "string", pattern: "^(?!a)b" } })],
    ["pattern", "/properties/s", object({ s: { type: "string", pattern: "^a$", minLength: 2 } })],
    ["format", "/properties/s", object({ s: { type: "string", format: "uuid", maxLength: 3 } })],
    ["minimum", "/properties/n", object({ n: { type: "integer", minimum: 1.2, maximum: 1.8 } })],
    ["enum", "/properties/s", object({ s: { enum: ["a"], type: "integer" } })],
    ["false", "/properties/s", object({ s: false as never })],
    ["patternProperties", "/", object({ ab: true as never }, { patternProperties: { "^a": { const: 1 } } })],
    ["$ref", "/properties/s", object({ s: { $ref: "https://example.org/schema" } })],
    ["minProperties", "/", { type: "object", minProperties: 2 }],
  ])("names what it cannot describe: %s at %s", (keyword, path, schema) => {
    const message = `The schema of the tool "t" cannot be turned into a grammar: "${keyword}" at ${path} `;
    const build = () => addSchemaRules(createRules(), schema, 'the tool "t"');
    expect(build).toThrow(
      expect.objectContaining({ code: "model_rejected", message: expect.stringContaining(message) }),
    );
  });
});
