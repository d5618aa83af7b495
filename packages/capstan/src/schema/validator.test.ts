import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { defineTool } from "../kernel/tool.ts";
import { readCpuMs } from "../testing/cpu-time.ts";
import { toSchema } from "./schema.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const texts = (keywords: object) => toSchema(object({ a: { type: "string", ...keywords } }));
const isValid = async (schema: object, value: unknown) => (await toSchema(schema).validate(value)).valid;

const refusal = (message: RegExp | string) =>
  expect.objectContaining({ code: "invalid_definition", message: expect.stringMatching(message) });

describe("JSON Schema", () => {
  it("names a field unchanged, whatever characters it has", async () => {
    const schema = toSchema(object({ "km/h": { type: "number" }, "a~%": { type: "number" } }));
    expect(await schema.validate({ "km/h": "fast", "a~%": "b" })).toEqual({
      valid: false,
      issues: [expect.stringMatching(/^km\/h: /), expect.stringMatching(/^a~%: /)],
    });
  });

  it("of an untyped kind allows everything", async () => {
    expect(await toSchema({}).validate({ a: [1, null] })).toEqual({ valid: true, value: { a: [1, null] } });
  });

  it("may be frozen, and is not modified", async () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ type: "string", pattern: "^a" }) }),
    });
    const before = JSON.stringify(schema);
    expect(await isValid(schema, { a: "b" })).toBe(false);
    expect(Object.getOwnPropertyNames(schema)).toEqual(["type", "properties"]);
    expect(JSON.stringify(schema)).toBe(before);
  });

  it("treats prototype names as ordinary keys everywhere (A117)", async () => {
    const schema = object({ constructor: { type: "number" } }, { required: ["toString"] });
    expect(await isValid(schema, { toString: 1 })).toBe(true);
    expect(await isValid(schema, {})).toBe(false);
    expect(await isValid(schema, { toString: 1, constructor: "x" })).toBe(false);
    for (const format of ["hasOwnProperty", "__proto__", "constructor"])
      expect(await isValid({ type: "string", format }, "x")).toBe(true);
  });

  it("checks known formats and ignores others", async () => {
    expect(await isValid({ format: "date" }, "2026-02-30")).toBe(false);
    expect(await isValid({ format: "date" }, "2026-02-28")).toBe(true);
    expect(await isValid({ format: "colour" }, "?")).toBe(true);
  });

  it.each([
    [{ contains: { const: 1 } }, [], [1]],
    [{ contains: { const: 1 } }, [2], [2, 1]],
    [{ contains: { const: 1 }, minContains: 2 }, [1, 2], [1, 1]],
    [{ not: { type: "array" } }, [], {}],
    [{ if: { type: "array" }, else: false }, 1, []],
    [{ oneOf: [{ type: "number" }, { const: 1 }] }, 1, 2],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, { a: 1, b: 2 }],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 }, { a: 1, b: 2 }],
    [{ dependencies: { a: ["b"], c: { required: ["d"] } } }, { c: 1 }, { a: 1, b: 2 }],
    [{ prefixItems: [{ type: "number" }], items: false }, [1, 2], [1]],
    [{ items: [{ type: "number" }], additionalItems: false }, [1, 2], [1]],
    [{ type: "array", unevaluatedItems: false }, [1], []],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, { a: 1 }],
    [{ minProperties: 1 }, {}, { a: 1 }],
    [{ uniqueItems: true }, [1, 1], [1, 2]],
    [{ multipleOf: 0.1 }, 0.35, 0.3],
    [{ enum: [{ a: 1 }] }, { a: 2 }, { a: 1 }],
    [false, {}, undefined],
  ])("%j refuses %j with an issue, and accepts %j (C-26)", async (schema, wrong, right) => {
    const inside = toSchema(object({ x: schema }));
    const result = await inside.validate({ x: wrong });
    expect(result.valid ? [] : result.issues).not.toEqual([]);
    expect(await inside.validate(right === undefined ? {} : { x: right })).toMatchObject({ valid: true });
  });

  it("reports the first issue of a value with very many", async () => {
    const schema = toSchema(object({ list: { type: "array", items: { type: "number" } } }));
    expect(await schema.validate({ list: Array.from({ length: 200_000 }, () => "x") })).toEqual({
      valid: false,
      issues: [expect.stringMatching(/^list\.0: .*number/)],
    });
  });
});

describe("a pattern", () => {
  it.each([
    ["^(a+)+$", `${"a".repeat(40)}!`],
    ["(a|a)*$", `${"a".repeat(40)}!`],
    ["^(a|a)*$", `${"a".repeat(40)}!`],
    ["(.*a){20}", `${"a".repeat(19)}${"b".repeat(5_000)}`],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(5_000)],
    ["(x+x+)+y", "x".repeat(100_000)],
  ])("%s takes linear time on a text that would block RegExp (A116)", async (pattern, text) => {
    const schema = texts({ pattern });
    const begin = readCpuMs();
    await schema.validate({ a: text });
    await schema.validate({ a: text.repeat(10) });
    expect(readCpuMs() - begin).toBeLessThan(2_000);
  });

  it("of keys takes linear time too (A116)", async () => {
    const schema = toSchema({ type: "object", patternProperties: { "^(a+)+$": { type: "number" } } });
    const begin = readCpuMs();
    expect(await schema.validate({ [`${"a".repeat(40)}!`]: "x" })).toMatchObject({ valid: true });
    expect(await schema.validate({ ["a".repeat(40)]: "x" })).toMatchObject({ valid: false });
    expect(readCpuMs() - begin).toBeLessThan(2_000);
  });

  it("of the url format takes linear time (A116)", async () => {
    const begin = readCpuMs();
    expect(await isValid({ format: "url" }, `http://${"a".repeat(40)}!`.repeat(2))).toBeDefined();
    expect(await isValid({ format: "url" }, "not a url")).toBe(false);
    expect(readCpuMs() - begin).toBeLessThan(2_000);
  });

  it("matches anywhere, by code points; the issue names it (S0-26)", async () => {
    const schema = texts({ pattern: "b.d" });
    expect(await schema.validate({ a: "ab😀de" })).toMatchObject({ valid: true });
    expect(await schema.validate({ a: "abd" })).toEqual({
      valid: false,
      issues: ['a: String does not match pattern "b.d"'],
    });
  });

  it("applies together with a format and other conditions", async () => {
    const schema = texts({ pattern: "^2026", format: "date", allOf: [{ not: { const: "2026-12-24" } }] });
    expect(await schema.validate({ a: "2026-11-15" })).toMatchObject({ valid: true });
    for (const a of ["2025-11-15", "2026-11-31", "2026-12-24"])
      expect(await schema.validate({ a })).toMatchObject({ valid: false, issues: [expect.anything()] });
  });

  it("applies wherever a schema can occur: items, alternatives, definitions, property names", async () => {
    const a = { type: "string", pattern: "^a" };
    const schema = {
      $defs: { a },
      properties: {
        list: { items: a },
        either: { anyOf: [a, { type: "number" }] },
        ref: { $ref: "#/$defs/a" },
        not: { not: { pattern: "^a" } },
        keys: { propertyNames: a },
      },
    };
    expect(await isValid(schema, { list: ["a"], either: 1, ref: "ab", not: "b", keys: { ab: 1 } })).toBe(
      true,
    );
    for (const wrong of [{ list: ["b"] }, { either: "b" }, { ref: "b" }, { not: "a" }, { keys: { b: 1 } }])
      expect([wrong, await isValid(schema, wrong)]).toEqual([wrong, false]);
  });

  it("is ignored where it is data: in field names, constants, defaults, examples", async () => {
    const schema = {
      type: "object",
      properties: { pattern: { type: "string", const: "(?=", default: { pattern: "(" } } },
      patternProperties: {},
      examples: [{ pattern: "(" }],
      "x-example": { pattern: "(" },
    };
    expect(await isValid(schema, { pattern: "(?=" })).toBe(true);
  });

  it.each([
    [object({ a: { type: "string", pattern: "^(?=.*a)" } }), "properties.a.pattern", '"^(?=.*a)"'],
    [object({ a: { items: { pattern: "(a)\\1" } } }), "properties.a.items.pattern", '"(a)\\\\1"'],
    [{ type: "object", patternProperties: { "(?!x)": {} } }, "patternProperties", '"(?!x)"'],
    [object({ a: { $ref: "#/x-shared" } }, { "x-shared": { pattern: "(" } }), "#/x-shared.pattern", '"("'],
  ])("that RE2 cannot match is rejected at definition, with tool, path and pattern: %j (A116)", (input, place, pattern) => {
    const define = () => defineTool({ name: "find", description: "", input });
    expect(define).toThrow(refusal(""));
    for (const part of ['the tool "find"', place, pattern]) expect(define).toThrow(part);
  });

  it("with a property unknown to RE2 is rejected with the first value (A116)", async () => {
    const schema = toSchema(object({ a: { pattern: "\\p{Script_Extensions=Greek}" } }), {
      owner: 'the tool "x"',
    });
    await expect(schema.validate({ a: "α" })).rejects.toThrow(
      refusal(/^The pattern "\\\\p{Script_Extensions=Greek}" in the schema of the tool "x"/),
    );
  });
});

describe("patterns of keys", () => {
  it("apply to every matching key, together with properties and before additionalProperties (S0-31)", async () => {
    const schema = {
      type: "object",
      properties: { size: { type: "number" }, x_max: { maximum: 5 } },
      patternProperties: { "^x_": { type: "number" }, _max$: { minimum: 0 } },
      additionalProperties: false,
    };
    expect(await isValid(schema, { size: 1, x_a: 1, y_max: 0, x_max: 5 })).toBe(true);
    for (const wrong of [{ x_a: "1" }, { y_max: -1 }, { x_max: 6 }, { x_max: -1 }, { x_max: "1" }, { y: 1 }])
      expect([wrong, await isValid(schema, wrong)]).toEqual([wrong, false]);
  });

  it("apply to every value independently", async () => {
    const schema = toSchema({
      type: "object",
      patternProperties: { "^x": { type: "number" } },
      additionalProperties: false,
    });
    expect(await schema.validate({ x1: 1 })).toMatchObject({ valid: true });
    expect(await schema.validate({ x2: 1 })).toMatchObject({ valid: true });
    expect(await schema.validate({ y: 1 })).toMatchObject({ valid: false });
    expect(await schema.validate({ x1: "a" })).toEqual({
      valid: false,
      issues: [expect.stringMatching(/^x1: .*number/)],
    });
  });

  it("apply in nested and recursive objects, and count as evaluated", async () => {
    const schema = {
      type: "object",
      patternProperties: { "^kid": { $ref: "#" }, "^n": { type: "number" } },
      unevaluatedProperties: false,
    };
    expect(await isValid(schema, { kid1: { kid2: { n: 1 } }, n: 2 })).toBe(true);
    expect(await isValid(schema, { kid1: { kid2: { n: "1" } } })).toBe(false);
    expect(await isValid(schema, { kid1: { x: 1 } })).toBe(false);
  });

  it("are how TypeBox writes a record (S0-31)", async () => {
    const schema = Type.Object({ scores: Type.Record(Type.Integer(), Type.Number()) });
    expect(await isValid(schema, { scores: { 1: 2, "-5": 0.5 } })).toBe(true);
    expect(await isValid(schema, { scores: { 1: "2" } })).toBe(false);
  });

  it("accept any key name (A117)", async () => {
    const schema = { type: "object", patternProperties: { "^": { type: "number" } } };
    expect(await isValid(schema, JSON.parse('{"__proto__":1,"constructor":2}'))).toBe(true);
    expect(await isValid(schema, JSON.parse('{"__proto__":"x"}'))).toBe(false);
    expect(await isValid(schema, { toString: "x" })).toBe(false);
  });

  it("reject a value with too many keys and objects (A116)", async () => {
    const schema = toSchema({ additionalProperties: true, patternProperties: { "^x": { type: "number" } } });
    const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, {}]));
    expect(await schema.validate(keys)).toEqual({
      valid: false,
      issues: ["has too many distinct keys to check"],
    });
  });
});

it("a list without duplicates has a limit, because each item is compared with each (A116)", async () => {
  const schema = toSchema(object({ list: { type: "array", uniqueItems: true } }));
  const numbers = (length: number) => ({ list: Array.from({ length }, (_, index) => index) });
  expect(await schema.validate(numbers(5_000))).toMatchObject({ valid: true });
  expect(await schema.validate(numbers(5_001))).toEqual({
    valid: false,
    issues: ["has a list that is too long to check"],
  });
});

it("a key that is not well-formed text is an issue, not a failure", async () => {
  const schema = toSchema(object({}, { additionalProperties: { type: "number" } }));
  expect(await schema.validate({ "\ud800": 1 })).toEqual({
    valid: false,
    issues: ["has a key that is not well-formed text"],
  });
});

describe("a reference", () => {
  it("may be to a definition; the issue names the field once (S0-26)", async () => {
    const schema = toSchema({
      ...object({ from: { $ref: "#/$defs/place" } }),
      $defs: { place: object({ lat: { type: "number" } }, { required: ["lat"] }) },
    });
    expect(await schema.validate({ from: { lat: 1 } })).toEqual({ valid: true, value: { from: { lat: 1 } } });
    expect(await schema.validate({ from: { lat: "north" } })).toEqual({
      valid: false,
      issues: [expect.stringMatching(/^from\.lat: .*string.*number/)],
    });
  });

  it.each([
    ["a pointer with escapes", { $ref: "#/$defs/a~1b%25" }, { $defs: { "a/b%": { type: "number" } } }],
    ["an anchor", { $ref: "#here" }, { $defs: { a: { $anchor: "here", type: "number" } } }],
    ["an id", { $ref: "urn:a" }, { $defs: { a: { $id: "urn:a", type: "number" } } }],
    [
      "a pointer behind an id",
      { $ref: "urn:a#/not" },
      { $defs: { a: { $id: "urn:a", not: { type: "number" } } } },
    ],
    ["an older place", { $ref: "#/definitions/a" }, { definitions: { a: { type: "number" } } }],
    ["anywhere in the schema", { $ref: "#/x/y" }, { x: { y: { type: "number" } } }],
    ["a reference", { $ref: "#/$defs/a" }, { $defs: { a: { $ref: "#/$defs/b" }, b: { type: "number" } } }],
  ])("may be %s", async (_what, reference, more) => {
    expect(await isValid({ ...object({ n: reference }), ...more }, { n: 1 })).toBe(true);
    expect(await isValid({ ...object({ n: reference }), ...more }, { n: "1" })).toBe(false);
  });

  it("may be recursive, such as a TypeBox tree (S0-31)", async () => {
    const tree = Type.Cyclic(
      { Node: Type.Object({ name: Type.String(), kids: Type.Array(Type.Ref("Node")) }) },
      "Node",
    );
    expect(await isValid(tree, { name: "a", kids: [{ name: "b", kids: [] }] })).toBe(true);
    expect(await isValid(tree, { name: "a", kids: [{ name: 1, kids: [] }] })).toBe(false);
  });

  it("may be the first of a long chain", async () => {
    const links = Array.from({ length: 3_000 }, (_, index) => [
      `d${index}`,
      { $ref: `#/$defs/d${index + 1}` },
    ]);
    const $defs = { ...Object.fromEntries(links), d3000: { type: "number" } };
    expect(() => toSchema({ $ref: "#/$defs/d0", $defs })).not.toThrow();
  });

  it("to alternatives that refer to alternatives does not block, however many there are (A116)", async () => {
    const again = { anyOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#" }] };
    const value = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`);
    const begin = readCpuMs();
    expect(await toSchema(object({ a: again })).validate(value)).toEqual({
      valid: false,
      issues: ["takes too many steps to check"],
    });
    expect(readCpuMs() - begin).toBeLessThan(8_000);
  });

  it("that is infinitely recursive rejects every value and does not hang", async () => {
    expect(await toSchema({ $ref: "#" }).validate({})).toEqual({
      valid: false,
      issues: ["takes too many steps to check"],
    });
  });

  it.each([
    ["https://example.org/place.json"],
    ["place.json"],
    ["//example.org/a"],
    ["#/$defs/missing"],
    ["#missing"],
    ["#/__proto__"],
    ["#/constructor"],
    ["#/%"],
    [5],
  ])("to %s, which is not in the schema, is rejected at definition: nothing is fetched (A117)", ($ref) => {
    const define = () => defineTool({ name: "go", description: "", input: object({ a: { $ref } }) });
    expect(define).toThrow(refusal(/^properties\.a\.\$ref in the schema of the tool "go" refers to /));
  });
});

describe("a schema is rejected at definition", () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { not: nested(levels - 1) });

  it("when it is nested deeper than 64 levels", () => {
    expect(() => toSchema(nested(63))).not.toThrow();
    expect(() => toSchema(nested(64), { owner: 'the tool "x"' })).toThrow(
      refusal('The schema of the tool "x" is nested deeper than 64 levels'),
    );
  });

  it("when it is larger than 1,000,000 characters, also where parts are shared", () => {
    expect(() => toSchema(object({}, { description: "x".repeat(999_900) }))).not.toThrow();
    expect(() => toSchema(object({}, { description: "x".repeat(1_000_001) }))).toThrow(
      refusal("is larger than"),
    );
    let shared: object = {};
    for (let level = 0; level < 30; level++) shared = { anyOf: [shared, shared] };
    expect(() => toSchema(shared)).toThrow(refusal("is larger than"));
  });

  it("when it contains itself", () => {
    const schema: { [keyword: string]: unknown } = { type: "object" };
    schema.properties = { again: schema };
    expect(() => toSchema(schema)).toThrow(refusal("is nested deeper than 64 levels"));
  });

  it.each([
    [object({ a: "string" }), /^properties\.a in the schema of .* must be a schema/],
    [object({ a: { required: true, minLength: 1 } }), /^properties\.a\.required .* must be a list/],
    [object({ a: { anyOf: {} } }), /^properties\.a\.anyOf .* must be a list of schemas/],
    [{ properties: [] }, /^properties .* must be an object of schemas/],
    [object({ a: { type: "date" } }), /^properties\.a\.type .* is "date"; must be one of string, /],
    [object({ a: { pattern: 5 } }), /^properties\.a\.pattern .* must be a string/],
    [{ $dynamicRef: "#node" }, /^\$dynamicRef .* is not supported; use \$ref/],
  ])("when a keyword has an invalid value: %j", (input, message) => {
    expect(() => toSchema(input)).toThrow(refusal(message));
  });
});

it("checks values that come at the same time, also the first ones", async () => {
  const schema = toSchema({ type: "object", properties: { a: { type: "number" } } });
  const results = await Promise.all([schema.validate({ a: 1 }), schema.validate({ a: "x" })]);
  expect(results.map(({ valid }) => valid)).toEqual([true, false]);
});
