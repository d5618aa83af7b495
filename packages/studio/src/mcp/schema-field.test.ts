import { describe, expect, it } from "vitest";
import { getInitialValue, getSchemaField, maxMembers } from "./schema-field.ts";

const getKind = (schema: unknown, root: unknown = schema) => getSchemaField(schema, root).kind;

describe("the field for a schema", () => {
  it("follows its type, its choices, its references and an alternative to null", () => {
    expect(getKind({ type: "string" })).toBe("text");
    expect(getSchemaField({ type: "integer" }, {})).toMatchObject({ kind: "number", isInteger: true });
    expect(getKind({ type: ["boolean", "null"] })).toBe("boolean");
    expect(getSchemaField({ enum: ["a", 1] }, {})).toMatchObject({ kind: "choice", choices: ["a", 1] });
    expect(getKind({ const: 7 })).toBe("choice");
    expect(getKind({ type: "array", items: { type: "string" } })).toBe("list");
    expect(getKind({ properties: { a: {} } })).toBe("group");
    expect(getKind({ anyOf: [{ type: "number" }, { type: "null" }] })).toBe("number");
    const root = { $defs: { "a/b": { type: "string", title: "T" } } };
    expect(getSchemaField({ $ref: "#/$defs/a~1b" }, root)).toEqual({ kind: "text", title: "T" });
  });

  it("is JSON for everything else, however odd the schema is (A127)", () => {
    const loop = { $defs: { loop: { $ref: "#/$defs/loop" } } };
    const odd = [
      ...[undefined, null, true, 7, "string", [], {}, { type: "strange" }, { type: ["string", "number"] }],
      ...[{ enum: [] }, { type: "array" }, { type: "array", items: [{}] }, { type: "object" }],
      ...[{ allOf: [{}] }, { anyOf: [{ type: "string" }, { type: "number" }] }, { properties: 7 }],
      ...[
        { $ref: "https://evil.example" },
        { $ref: "#/nothing" },
        { $ref: "#/%E0%A4%A" },
        { $ref: "#/__proto__" },
      ],
      { $ref: "#/$defs/loop" },
    ];
    for (const schema of odd) expect(getKind(schema, loop), JSON.stringify(schema)).toBe("json");
  });

  it("keeps the required fields of a huge schema (A127)", () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `f${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const field = getSchemaField({ type: "object", properties, required: ["f4999"] }, {});
    expect(field).toMatchObject({ kind: "group", omitted: 5_000 - maxMembers });
    expect(field.kind === "group" && field.members[0]).toMatchObject({ name: "f4999", isRequired: true });
  });
});

it("a form starts with its required groups and its defaults, and a recursive schema ends (A127)", () => {
  const node = {
    type: "object",
    properties: { name: { type: "string", default: "x" }, next: { $ref: "#/$defs/node" } },
    required: ["next"],
  };
  const root = { $defs: { node }, $ref: "#/$defs/node" };
  const depth = (value: unknown): number => 1 + (Object(value).next ? depth(Object(value).next) : 0);
  expect(depth(getInitialValue(root, root))).toBe(9);
  const properties = {
    list: { type: "array", items: {} },
    flag: { type: "boolean" },
    optional: { type: "object", properties: {} },
    count: { type: "number", default: 3 },
    text: { type: "string" },
  };
  expect(getInitialValue({ type: "object", properties, required: ["list", "flag", "text"] }, {})).toEqual({
    ...{ list: [], flag: false, count: 3 },
  });
});
