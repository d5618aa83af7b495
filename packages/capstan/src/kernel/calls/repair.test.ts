import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Json } from "../../base/json.ts";
import { toSchema } from "../../schema/schema.ts";
import { type JsonDamage, stringifyDamaged } from "../../testing/damaged-json.ts";
import { repairArguments } from "./repair.ts";

const json = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    unit: { enum: ["celsius", "fahrenheit"] },
    days: { type: "integer" },
    price: { type: "number" },
    fast: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    place: { $ref: "#/$defs/place" },
  },
  required: ["city", "unit"],
  additionalProperties: false,
  $defs: {
    place: {
      type: "object",
      properties: { lat: { type: "number" }, labels: { type: "array", items: { type: "string" } } },
      required: ["lat"],
      additionalProperties: false,
    },
  },
};
const schema = toSchema(json);
type Trip = { [key: string]: Json };

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
const trips: fc.Arbitrary<Trip> = fc
  .record(
    {
      city: words,
      unit: fc.constantFrom("celsius", "fahrenheit"),
      days: fc.integer(),
      price: fc.double({ noNaN: true, noDefaultInfinity: true }),
      fast: fc.boolean(),
      tags: fc.array(words, { maxLength: 3 }),
      place: fc.record(
        { lat: fc.double({ noNaN: true, min: -90, max: 90 }), labels: fc.array(words, { maxLength: 2 }) },
        { requiredKeys: ["lat"] },
      ),
    },
    { requiredKeys: ["city", "unit"] },
  )
  .map((trip) => JSON.parse(JSON.stringify(trip)));

const textDamages: fc.Arbitrary<JsonDamage> = fc.record({
  quote: fc.constantFrom('"' as const, "'" as const, "“" as const),
  bareKeys: fc.boolean(),
  python: fc.boolean(),
  trailingCommas: fc.boolean(),
  comment: fc.constantFrom("", " ", "/* } */"),
  rawBreaks: fc.boolean(),
  fence: fc.constantFrom(undefined, "```json\n"),
  byteOrderMark: fc.boolean(),
});
type ValueDamages = { readonly [kind in "texts" | "cases" | "singles" | "encoded" | "nulls"]: boolean };
const valueDamages: fc.Arbitrary<ValueDamages> = fc.record({
  texts: fc.boolean(),
  cases: fc.boolean(),
  singles: fc.boolean(),
  encoded: fc.boolean(),
  nulls: fc.boolean(),
});

/** The trip with each of these faults wherever possible. */
function damageTrip(trip: Trip, how: ValueDamages): Trip {
  const asText = (value: Json) => {
    const isDecimal = typeof value === "boolean" || /^-?\d+(?:\.\d+)?$/.test(String(value));
    return how.texts && isDecimal ? String(value) : value;
  };
  const asSingle = (list: Json) => {
    const only = Array.isArray(list) && list.length === 1 ? String(list[0]) : ",";
    return how.singles && !/^\s*[[{]|[,;\n]/.test(only) ? only : list;
  };
  const broken: Trip = {};
  for (const [key, value] of Object.entries(trip)) {
    if (["days", "price", "fast"].includes(key)) broken[key] = asText(value);
    else if (key === "unit") broken[key] = how.cases ? String(value).toUpperCase() : value;
    else if (key === "tags") broken[key] = asSingle(value);
    else if (key === "place") {
      const { lat = 0, labels } = value as Trip;
      const place = { lat: asText(lat), ...(labels !== undefined && { labels: asSingle(labels) }) };
      broken[key] = how.encoded ? JSON.stringify(place) : place;
    } else broken[key] = value;
  }
  for (const key of ["days", "tags", "place"]) if (how.nulls && !(key in trip)) broken[key] = null;
  return broken;
}

describe("arguments that are valid", () => {
  it("are returned unchanged (S0-26)", async () => {
    await fc.assert(
      fc.asyncProperty(trips, async (trip) => {
        expect(await repairArguments({ input: trip }, schema)).toEqual({ input: trip, repairs: [] });
        const raw = JSON.stringify(trip);
        expect(await repairArguments({ raw, input: {} }, schema)).toEqual({ input: trip, repairs: [] });
      }),
    );
  });

  it("may be none at all, when the schema allows that (S1-29, F31)", async () => {
    const anything = toSchema({ type: "object" });
    expect(await repairArguments({ raw: " ", input: {} }, anything)).toEqual({ input: {}, repairs: [] });
    expect(await repairArguments({ raw: "", input: {} }, schema)).toBeUndefined();
  });

  it("are not transformed by the schema", async () => {
    const doubled = toSchema(z.object({ n: z.number().transform((n) => 2 * n), m: z.number().default(1) }));
    expect(await repairArguments({ input: { n: "2" } }, doubled)).toEqual({
      input: { n: 2 },
      repairs: ['n: "2" was read as 2'],
    });
  });
});

describe("arguments that were damaged", () => {
  it("are restored exactly, with nothing lost or invented; repairing again changes nothing (S1-28)", async () => {
    await fc.assert(
      fc.asyncProperty(trips, valueDamages, textDamages, async (trip, values, texts) => {
        const raw = stringifyDamaged(damageTrip(trip, values), texts);
        const repaired = await repairArguments({ raw, input: {} }, schema);
        expect(repaired?.input).toEqual(trip);
        expect(await repairArguments({ input: repaired?.input ?? {} }, schema)).toEqual({
          input: trip,
          repairs: [],
        });
      }),
      { numRuns: 300 },
    );
  });

  it("are repaired with a schema library too (C-26)", async () => {
    const library = toSchema(
      z.object({ city: z.string(), days: z.int().optional(), unit: z.enum(["celsius", "kelvin"]) }),
    );
    const raw = "{'city': 'Oslo', 'days': '3', 'unit': 'Celsius',}";
    expect(await repairArguments({ raw, input: {} }, library)).toEqual({
      input: { city: "Oslo", days: 3, unit: "celsius" },
      repairs: [
        "read single quotes",
        "removed trailing commas",
        'days: "3" was read as 3',
        'unit: "Celsius" was read as "celsius"',
      ],
    });
  });

  it("may be a JSON text inside a JSON text", async () => {
    const raw = JSON.stringify(JSON.stringify({ city: "Oslo", unit: "celsius" }));
    expect(await repairArguments({ raw, input: {} }, schema)).toEqual({
      input: { city: "Oslo", unit: "celsius" },
      repairs: ["read JSON inside a string"],
    });
  });
});

describe("arguments stay refused", () => {
  it("when something required is missing, because it is never invented (S0-26)", async () => {
    await fc.assert(
      fc.asyncProperty(trips, valueDamages, textDamages, async (trip, values, texts) => {
        const { unit: _unit, ...incomplete } = trip;
        const raw = stringifyDamaged(damageTrip(incomplete, values), texts);
        expect(await repairArguments({ raw, input: {} }, schema)).toBeUndefined();
      }),
    );
  });

  it("when they were truncated anywhere (S1-09)", async () => {
    const how = {
      quote: "'",
      bareKeys: true,
      python: true,
      trailingCommas: true,
      comment: " ",
      rawBreaks: true,
    } as const;
    const trip = { city: "Oslo", unit: "celsius", tags: ["a", "b"], place: { lat: 1 }, fast: true };
    const texts = [
      JSON.stringify(trip),
      JSON.stringify(JSON.stringify(trip)),
      stringifyDamaged(trip, { ...how, fence: "```json\n", byteOrderMark: true }),
    ];
    for (const text of texts)
      for (let length = 0; length < text.length; length++)
        expect(await repairArguments({ raw: text.slice(0, length), input: {} }, schema)).toBeUndefined();
  });

  it.each([
    ["a list", "[1]"],
    ["a number", "5"],
    ["null", "null"],
    ["a text", '"Oslo"'],
    [
      "a text in a text in a text",
      JSON.stringify(JSON.stringify(JSON.stringify({ city: "O", unit: "celsius" }))),
    ],
    ["prose", "I would like the weather in Oslo"],
  ])("when they are %s (F32)", async (_what, raw) => {
    expect(await repairArguments({ raw, input: {} }, toSchema({}))).toBeUndefined();
  });

  it.each([
    ["a key __proto__", "{'__proto__': {'admin': true}}"],
    ["a key __proto__ without quotes", "{__proto__: {admin: true}}"],
    ["a key __proto__ inside a text", '"{\\"__proto__\\":{}}"'],
    ["a number beyond all", "{'a': 1e999}"],
    ["more than 64 levels", `{'a': ${"[".repeat(64)}${"]".repeat(64)}}`],
    ["5,000 levels", `{'a': ${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
    ["more than 1,000,000 characters", `{'a': '${"x".repeat(1_000_000)}'}`],
  ])("with %s, as strict JSON with it is (F33, A118)", async (_what, raw) => {
    expect(await repairArguments({ raw, input: {} }, toSchema({}))).toBeUndefined();
  });

  it("when a string in them contains forbidden content (F33, A118)", async () => {
    const bag = toSchema({ type: "object", properties: { bag: { type: "object" } } });
    const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(await repairArguments({ input: { bag: nested(62) } }, bag)).toBeDefined();
    for (const text of ['{"__proto__":{}}', '{"a":1e999}', nested(63), nested(64)])
      expect(await repairArguments({ input: { bag: text } }, bag)).toBeUndefined();
    expect(await repairArguments({ input: { bag: '{"constructor":1}' } }, bag)).toMatchObject({
      input: { bag: { constructor: 1 } },
    });
  });

  it("when the schema throws, which the check of the call reports", async () => {
    const broken = z.object({}).refine(() => {
      throw new Error("no database");
    });
    expect(await repairArguments({ input: {} }, toSchema(broken))).toBeUndefined();
  });

  it("when only some of their faults can be repaired (S0-26)", async () => {
    const input = { city: "Oslo", unit: "Celsius", days: "soon" };
    expect(await repairArguments({ input }, schema)).toBeUndefined();
  });
});
