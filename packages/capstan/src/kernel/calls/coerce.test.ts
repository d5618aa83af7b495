import { describe, expect, it } from "vitest";
import type { Json } from "../../base/json.ts";
import { coerce } from "./coerce.ts";

const schema = {
  type: "object",
  properties: {
    days: { type: "integer" },
    price: { type: "number" },
    count: { type: ["number", "null"] },
    fast: { type: "boolean" },
    unit: { enum: ["celsius", "Fahrenheit"] },
    mode: { type: "string", const: "AUTO" },
    twins: { enum: ["a", "A", "b"] },
    tags: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { type: "integer" } },
    anything: { type: "array" },
    grid: { type: "array", items: { type: "array", items: { type: "number" } } },
    place: { $ref: "#/$defs/place" },
    tree: { $ref: "#/$defs/tree" },
    either: { anyOf: [{ type: "number" }, { type: "boolean" }] },
    free: {},
    name: { type: "string" },
    nothing: { type: ["string", "null"] },
    must: { type: "string" },
  },
  required: ["must"],
  $defs: {
    place: {
      type: "object",
      properties: { lat: { type: "number" }, label: { type: "string" } },
      required: ["lat"],
    },
    tree: {
      type: "object",
      properties: { size: { type: "number" }, kids: { type: "array", items: { $ref: "#/$defs/tree" } } },
    },
  },
};

describe("a value with an unambiguous meaning is corrected", () => {
  it.each<[{ [key: string]: Json }, { [key: string]: Json }, string[]]>([
    [{ days: "3" }, { days: 3 }, ['days: "3" was read as 3']],
    [{ price: "-0.5" }, { price: -0.5 }, ['price: "-0.5" was read as -0.5']],
    [{ count: "7" }, { count: 7 }, ['count: "7" was read as 7']],
    [{ fast: "true" }, { fast: true }, ['fast: "true" was read as true']],
    [{ fast: "false" }, { fast: false }, ['fast: "false" was read as false']],
    [{ unit: "Celsius" }, { unit: "celsius" }, ['unit: "Celsius" was read as "celsius"']],
    [{ unit: "fahrenheit" }, { unit: "Fahrenheit" }, ['unit: "fahrenheit" was read as "Fahrenheit"']],
    [{ mode: "auto" }, { mode: "AUTO" }, ['mode: "auto" was read as "AUTO"']],
    [{ tags: "a" }, { tags: ["a"] }, ['tags: "a" was read as ["a"]']],
    [{ ids: 5 }, { ids: [5] }, ["ids: 5 was read as [5]"]],
    [{ ids: "5" }, { ids: [5] }, ['ids: "5" was read as [5]']],
    [{ anything: { a: 1 } }, { anything: [{ a: 1 }] }, ['anything: {"a":1} was read as [{"a":1}]']],
    [{ ids: [1, "2"] }, { ids: [1, 2] }, ['ids.1: "2" was read as 2']],
    [{ ids: "[1,2]" }, { ids: [1, 2] }, ['ids: "[1,2]" was read as [1,2]']],
    [{ ids: '["1"]' }, { ids: [1] }, ['ids: "[\\"1\\"]" was read as ["1"]', 'ids.0: "1" was read as 1']],
    [{ place: '{"lat":1}' }, { place: { lat: 1 } }, ['place: "{\\"lat\\":1}" was read as {"lat":1}']],
    [{ place: { lat: "1" } }, { place: { lat: 1 } }, ['place.lat: "1" was read as 1']],
    [{ place: { lat: 1, label: null } }, { place: { lat: 1 } }, ["place.label: null was removed"]],
    [{ name: null, days: null }, {}, ["name: null was removed", "days: null was removed"]],
    [
      { tree: { kids: [{ kids: [{ size: "2" }] }] } },
      { tree: { kids: [{ kids: [{ size: 2 }] }] } },
      ['tree.kids.0.kids.0.size: "2" was read as 2'],
    ],
    [
      { tree: { kids: { size: 1 } } },
      { tree: { kids: [{ size: 1 }] } },
      ['tree.kids: {"size":1} was read as [{"size":1}]'],
    ],
  ])("%j as %j", (given, meant, repairs) => {
    expect(coerce(given, schema)).toEqual({ value: meant, repairs });
  });

  it("and a long one is abbreviated in the repair", () => {
    const label = "x".repeat(1_000);
    const { repairs } = coerce({ tags: label }, schema);
    expect(repairs).toEqual([`tags: "${"x".repeat(79)}… was read as ["${"x".repeat(78)}…`]);
  });
});

describe("a value stays unchanged", () => {
  it.each<{ [key: string]: Json }>([
    ...[
      "3.0",
      "03",
      "+3",
      " 3",
      "3 ",
      "1e3",
      "0x3",
      "3,5",
      "",
      "three",
      "-0",
      "9007199254740993",
      "1".repeat(400),
    ].map((price) => ({ price })),
    ...["True", "yes", "1", "TRUE", ""].map((fast) => ({ fast })),
    { days: "3.5" },
    { days: 3.5 },
    { days: true },
    { fast: 1 },
    { name: 5 },
    { name: true },
    { unit: "kelvin" },
    { unit: " celsius" },
    { twins: "B ", unit: 5 },
    { must: null },
    { nothing: null, count: null, free: null, either: null, unknown: null },
    { either: "3" },
    { free: "3" },
    { unknown: "3" },
    { tags: "a, b" },
    { tags: "a\nb" },
    { tags: '["a"' },
    { tags: "[a]" },
    { tags: 5 },
    { ids: "x" },
    { grid: 5 },
    { grid: [[1]], must: "x" },
    { place: "{'lat':1}" },
    { place: '{"lat":1' },
    { place: "[1]" },
    { place: `{"a":${"[".repeat(100)}${"]".repeat(100)}}` },
    { place: '{"__proto__":{"lat":1}}' },
  ])("%j: it fits, or there is a doubt", (value) => {
    expect(coerce(value, schema)).toEqual({ value, repairs: [] });
  });

  it("with two choices that differ only in case, unless one matches exactly", () => {
    expect(coerce({ twins: "B" }, schema).value).toEqual({ twins: "b" });
    expect(coerce("ab", { enum: ["AB", "Ab"] })).toEqual({ value: "ab", repairs: [] });
  });

  it("whatever its keys are called (A117, A118)", () => {
    const value: Json = JSON.parse('{"__proto__":"1","constructor":"2","toString":null}');
    const { value: coerced, repairs } = coerce(value, schema);
    expect(JSON.stringify(coerced)).toBe(JSON.stringify(value));
    expect(repairs).toEqual([]);
  });

  it("by schemas with dangling or circular references", () => {
    const loops = { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
    const properties = {
      a: { $ref: "#/$defs/a" },
      b: { $ref: "https://example.org/" },
      c: { type: "array", items: { $ref: "#" } },
    };
    expect(coerce({ a: "1", b: "2", c: [1] }, { properties, ...loops })).toMatchObject({ repairs: [] });
    expect(coerce(5, { type: "array", items: { $ref: "#" } })).toEqual({ value: 5, repairs: [] });
  });
});
