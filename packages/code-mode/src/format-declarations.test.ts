import { defineTool, type Tool } from "capstan";
import { expect, it } from "vitest";
import { z } from "zod";
import { formatDeclarations } from "./format-declarations.ts";

const createTool = (input: object, more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool =>
  defineTool({ name: "find", description: "Finds", input, ...more }) as Tool;

it("tools are declared with their arguments, results and descriptions", () => {
  const find = defineTool({
    name: "find_flights",
    description: "Finds flights\nof a day",
    input: z.object({
      from: z.string().describe("Airport code"),
      days: z.array(z.union([z.literal("today"), z.int()])).optional(),
      class: z.enum(["economy", "first"]),
    }),
    output: z.object({ flights: z.array(z.object({ number: z.string(), seats: z.int().nullable() })) }),
    execute: () => ({ flights: [] }),
  });
  const now = defineTool({ name: "what-time", description: "", input: { type: "object", properties: {} } });
  expect(formatDeclarations([find, now])).toMatchInlineSnapshot(`
    "declare const tools: {
      /** Finds flights of a day */
      find_flights(input: {
        /** Airport code */
        from: string;
        days?: Array<"today" | number>;
        class: "economy" | "first";
      }): Promise<{
        flights: Array<{
          number: string;
          seats: number | null;
        }>;
      }>;
      "what-time"(input?: {
        [key: string]: unknown;
      }): Promise<any>;
    };"
  `);
});

it.each<[schema: object, type: string]>([
  [{ type: "array", items: { type: ["string", "null"] } }, "Array<string | null>"],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }] }, "[string, number]"],
  [{ allOf: [{ type: "string" }, { const: "a" }] }, 'string & "a"'],
  [{ type: "object", additionalProperties: { type: "integer" } }, "{\n      [key: string]: number;\n    }"],
  [{ $ref: "#/$defs/a~1b" }, "boolean"],
  [{ enum: [] }, "never"],
  [{}, "unknown"],
])("%j is %s", (schema, type) => {
  const tool = createTool({
    type: "object",
    properties: { value: schema },
    required: ["value"],
    $defs: { "a/b": { type: "boolean" } },
  });
  expect(formatDeclarations([tool])).toContain(`value: ${type};`);
});

it("a schema that refers to itself ends, and a description cannot end its comment", () => {
  const tree = {
    type: "object",
    properties: { children: { type: "array", items: { $ref: "#" } } },
    required: ["children"],
  };
  const declarations = formatDeclarations([
    createTool(tree, { description: "*/ evil(); /*" }),
    createTool({ type: "object", properties: { 'a"; evil(); "': { type: "string" } } }, { name: "x-y" }),
  ]);
  expect(declarations.length).toBeLessThan(5000);
  expect(declarations).toContain("/** *\\/ evil(); /* */");
  expect(declarations).toContain('"a\\"; evil(); \\""?: string;');
  expect(declarations).toContain('"x-y"(input?: {');
});
