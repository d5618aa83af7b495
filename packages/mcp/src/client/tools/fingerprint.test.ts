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

/** Reverses the key order of every object in a value. */
function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reverseKeys(item)]),
  );
}

describe("the fingerprint of a tool (A50)", () => {
  it("does not depend on the key order", () => {
    assert(
      property(jsonValue(), jsonValue(), (input, output) => {
        const changedTool = {
          ...tool,
          inputSchema: { ...tool.inputSchema, input },
          outputSchema: { output },
        } as unknown as Tool;
        expect(computeFingerprint(reverseKeys(changedTool) as Tool, "notes")).toBe(
          computeFingerprint(changedTool, "notes"),
        );
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

  it("depends on the order of lists and on invisible characters", () => {
    const inputSchema = { ...tool.inputSchema, required: ["b", "a"] };
    expect(computeFingerprint({ ...tool, inputSchema }, "notes")).not.toBe(computeFingerprint(tool, "notes"));
    const hidden = { ...tool, description: "Finds notes\u{E0041}" };
    expect(computeFingerprint(hidden, "notes")).not.toBe(computeFingerprint(tool, "notes"));
  });

  it("is the same as in stored trust files", () => {
    expect(computeFingerprint(tool, "notes")).toBe("miin7CURI-3itm-Gw2d6fC5Aa7jC0dbOokA29JvfZBM");
    // Missing fields are omitted, and keys that look like integers come first, in numeric order.
    const { title: _title, outputSchema: _outputSchema, ...rest } = tool;
    const inputSchema = { type: "object" as const, properties: { z: {}, "10": {}, "2": {} } };
    const fingerprint = computeFingerprint({ ...rest, inputSchema }, "notes");
    expect(fingerprint).toBe("uTCb7HrgF92u09rXbjrha-U1qqgvvAdlO3AUQD8LlN0");
  });

  it("does not depend on fields that the model does not read", () => {
    expect(computeFingerprint({ ...tool, _meta: { at: 1 } }, "notes")).toBe(
      computeFingerprint(tool, "notes"),
    );
  });

  it("changes with the phrases that a tool declares, and with no other private data", () => {
    const withMeta = (meta: Record<string, unknown>) => computeFingerprint({ ...tool, _meta: meta }, "notes");
    const known = withMeta({ "capstan/examples": [{ phrase: "find {query}" }] });
    expect(known).not.toBe(computeFingerprint(tool, "notes"));
    expect(known).not.toBe(withMeta({ "capstan/examples": [{ phrase: "send {query}" }] }));
    expect(withMeta({ note: "x", "capstan/examples": ["x"] })).toBe(computeFingerprint(tool, "notes"));
  });

  it("changes with what a tool declares about its app (A136)", () => {
    const withApp = (ui: object) => computeFingerprint({ ...tool, _meta: { ui } }, "notes");
    const app = withApp({ resourceUri: "ui://notes/a.html" });
    expect(app).not.toBe(computeFingerprint(tool, "notes"));
    expect(app).not.toBe(withApp({ resourceUri: "ui://notes/b.html" }));
    expect(app).not.toBe(withApp({ resourceUri: "ui://notes/a.html", visibility: ["app"] }));
  });
});
