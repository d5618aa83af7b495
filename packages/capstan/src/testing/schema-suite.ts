import { describe, expect, it } from "vitest";
import { type SchemaInput, toSchema } from "../schema/schema.ts";

/**
 * The schema of a trip, written for one schema library:
 * - `city`: a string of at least two characters
 * - `unit`: "celsius" or "fahrenheit"
 * - `days` (optional): an integer from 1 to 7
 * - `place` (optional): an object with `lat`, a number, and `label`, an optional string; no other fields
 * - `tags` (optional): a list of strings
 */
export type TripSchema = {
  readonly schema: SchemaInput;
  readonly jsonSchema?: object;
  /** How the schema treats unknown keys. */
  readonly otherKeys: "refused" | "let through";
};

const validTrips: { readonly [what: string]: unknown } = {
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
  "a text of two characters that are four units long": { city: "😀😀", unit: "celsius" },
};

const oslo = { city: "Oslo", unit: "celsius" };

/** The fault, a value with this fault, and patterns for the one issue: the field and the fault. */
const invalidTrips: readonly (readonly [string, unknown, readonly RegExp[]])[] = [
  ["a missing field", { unit: "celsius" }, [/city/, /required|expected string|missing|undefined/]],
  ["a wrong type", { ...oslo, city: 5 }, [/^city: /, /string/, /number|\b5\b/]],
  ["a text that is too short", { ...oslo, city: "O" }, [/^city: /, /short|small|length/, /2/]],
  ["a fraction for a whole number", { ...oslo, days: 1.5 }, [/^days: /, /int/]],
  ["a number out of range", { ...oslo, days: 8 }, [/^days: /, /7/]],
  ["a text for a number", { ...oslo, days: "3" }, [/^days: /, /number|int/, /string|"3"/]],
  ["a value that is no choice", { ...oslo, unit: "kelvin" }, [/^unit: /, /celsius/, /fahrenheit/]],
  ["null for a field that may be left out", { ...oslo, days: null }, [/^days: /, /number|int/, /null/]],
  ["a missing nested field", { ...oslo, place: {} }, [/place/, /lat/]],
  ["a wrong nested type", { ...oslo, place: { lat: "x" } }, [/^place\.lat: /, /number/, /string|"x"/]],
  ["a nested field too many", { ...oslo, place: { lat: 1, z: 3 } }, [/place/, /\bz\b/]],
  ["a wrong item", { ...oslo, tags: ["a", 2] }, [/^tags\.1: /, /string/, /number|\b2\b/]],
  ["a list that is none", { ...oslo, tags: "a" }, [/^tags: /, /array/i, /string|"a"/]],
  ["null", null, [/object/i, /null/]],
];

/**
 * The contract of every kind of schema. A test of a kind is one line: `schemaSuite("acme", { schema: …, otherKeys: …
 * })`.
 */
export function schemaSuite(name: string, { schema: input, jsonSchema, otherKeys }: TripSchema): void {
  const schema = toSchema(input, { jsonSchema });
  const collectIssues = async (value: unknown): Promise<readonly string[]> => {
    const result = await schema.validate(value);
    return result.valid ? [] : result.issues;
  };

  describe(`a schema as ${name}`, () => {
    it.each(Object.entries(validTrips))("accepts %s and returns it (S0-26, C-26)", async (_what, value) => {
      expect(await schema.validate(value)).toEqual({ valid: true, value });
    });

    it.each(
      invalidTrips,
    )("rejects %s with one issue that names it (S0-26, C-26)", async (_what, value, named) => {
      const issues = await collectIssues(value);
      expect(issues).toHaveLength(1);
      for (const pattern of named) expect(issues[0]).toMatch(pattern);
      expect(issues[0]).not.toMatch(/schema/i);
    });

    it("names every fault of a value, each once (S0-26)", async () => {
      const issues = await collectIssues({ city: 5, unit: "kelvin", days: 0 });
      expect(issues.map((issue) => issue.split(":")[0]).sort()).toEqual(["city", "days", "unit"]);
    });

    it.each([
      [["Oslo"]],
      ["Oslo"],
      [5],
      [true],
    ])("rejects %j, which is not an object (F32)", async (value) => {
      expect(await collectIssues(value)).not.toEqual([]);
    });

    it.each(["wind", "constructor", "toString"])(`has the key %s ${otherKeys} (S3-23, A117)`, async (key) => {
      const issues = await collectIssues({ ...oslo, [key]: 3 });
      expect(issues).toEqual(otherKeys === "refused" ? [expect.stringContaining(key)] : []);
    });

    it("returns a JSON Schema with the required fields and their types (S0-26, S3-22, S4-01)", () => {
      expect(JSON.parse(JSON.stringify(schema.json))).toMatchObject({
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
}
