import type { Tool } from "@modelcontextprotocol/client";
import { assert, constantFrom, jsonValue, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { computeFingerprint } from "./fingerprint.ts";

const tool: Tool = {
  name: "search",
  title: "Search",
  description: "Finds notes",
  inputSchema: {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  outputSchema: { type: "object", properties: { n: { type: "number" } } },
  annotations: { readOnlyHint: true, title: "x" },
};

/** The same value with the keys of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turned(item)]),
  );
}

describe("the fingerprint of a tool (A50)", () => {
  it("does not depend on the order in which a server writes its keys", () => {
    assert(
      property(jsonValue(), jsonValue(), (input, output) => {
        const one = {
          ...tool,
          inputSchema: { ...tool.inputSchema, input },
          outputSchema: { output },
        } as unknown as Tool;
        expect(computeFingerprint(turned(one) as Tool, "notes")).toBe(computeFingerprint(one, "notes"));
      }),
    );
  });

  it("changes with every field, and with the server's own name", () => {
    const known = computeFingerprint(tool, "notes");
    const fields = constantFrom("name", "title", "description", "inputSchema", "outputSchema", "annotations");
    assert(
      property(fields, string(), (field, value) => {
        const before = tool[field as keyof Tool];
        const changed =
          typeof before === "string" ? `${before}${value}!` : { ...(before as object), [`x${value}`]: 1 };
        expect(computeFingerprint({ ...tool, [field]: changed }, "notes")).not.toBe(known);
        const { [field as "title"]: _, ...without } = tool;
        expect(computeFingerprint(without as Tool, "notes")).not.toBe(known);
      }),
    );
    expect(computeFingerprint(tool, "other")).not.toBe(known);
  });

  it("tells lists in another order apart, and sees what cannot be seen", () => {
    const inputSchema = { ...tool.inputSchema, required: ["b", "a"] };
    expect(computeFingerprint({ ...tool, inputSchema }, "notes")).not.toBe(computeFingerprint(tool, "notes"));
    const hidden = { ...tool, description: "Finds notes\u{E0041}" };
    expect(computeFingerprint(hidden, "notes")).not.toBe(computeFingerprint(tool, "notes"));
  });

  it("does not change with what the model does not read", () => {
    expect(computeFingerprint({ ...tool, _meta: { at: 1 } }, "notes")).toBe(
      computeFingerprint(tool, "notes"),
    );
  });
});
