import { describe, expect, it } from "vitest";
import { toSchema } from "./schema.ts";

describe("a parameter record", () => {
  const search = toSchema({
    query: { type: "string", description: "What to find", required: true },
    limit: { type: "number" },
  });

  it("is sent to the model as plain JSON Schema (S3-20, S3-22)", () => {
    expect(search.json).toEqual({
      type: "object",
      properties: { query: { type: "string", description: "What to find" }, limit: { type: "number" } },
      required: ["query"],
    });
  });

  it("has optional parameters unless marked required, and allows unknown ones (S3-23)", async () => {
    expect(await search.validate({ query: "x", page: 2 })).toEqual({
      valid: true,
      value: { query: "x", page: 2 },
    });
    expect(await search.validate({ limit: 2 })).toMatchObject({ valid: false });
    expect(await search.validate({ query: "x", limit: "2" })).toMatchObject({ valid: false });
  });

  it("requires nothing when no parameter is required: false equals missing (S3-23)", async () => {
    const schema = toSchema({ limit: { type: "number", required: false } });
    expect(schema.json).toEqual({ type: "object", properties: { limit: { type: "number" } } });
    expect(await schema.validate({})).toMatchObject({ valid: true });
  });

  it("may have parameters named like keywords or prototype members (A117)", async () => {
    const schema = toSchema({
      type: { type: "string", required: true },
      properties: { type: "array" },
      constructor: { type: "number" },
    });
    expect(await schema.validate({ type: "a", properties: [], constructor: 1 })).toMatchObject({
      valid: true,
    });
    expect(await schema.validate({ properties: [] })).toMatchObject({ valid: false });
    expect(await schema.validate({ type: "a", constructor: "b" })).toMatchObject({ valid: false });
  });

  it("keeps the list of required fields of a parameter that is an object (S3-20)", async () => {
    const schema = toSchema({
      place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
    });
    expect(await schema.validate({})).toMatchObject({ valid: true });
    expect(await schema.validate({ place: {} })).toMatchObject({ valid: false });
  });

  it("is rejected for an unknown type, with a suggestion (S3-20)", () => {
    const record = { when: { type: "strng" } };
    expect(() => toSchema(record, { owner: 'the tool "search"' })).toThrow(
      'The parameter "when" of the tool "search" has the unknown type "strng". Did you mean "string"?',
    );
  });

  it.each([
    [{ type: "object", properties: { a: { type: "string" } } }],
    [{ type: ["object", "null"], properties: {} }],
    [{ properties: { type: { type: "string" } } }],
    [{ anyOf: [{ type: "object" }] }],
    [{}],
  ])("is distinct from JSON Schema: %j", (json) => {
    expect(toSchema(json).json).toBe(json);
  });
});
