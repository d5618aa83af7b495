import { isRecord, type Json } from "../base/json.ts";
import type { JsonSchema, Schema } from "../schema/schema.ts";

/** A user phrase with `{slots}` and the input it maps to: `{ phrase: "weather in {city} now", input: { when: "now" } }`. */
export type ToolExample = {
  readonly phrase: string;
  /** A slot with the name of an argument becomes that argument; values refer to other slots as `{slot}`. */
  readonly input?: { readonly [name: string]: Json };
};

/** The examples of tools, by the tool's name. */
export type ExamplesByTool = { readonly [tool: string]: readonly ToolExample[] };

type ToolWithExamples = {
  readonly schema: Pick<Schema, "json">;
  readonly examples?: readonly ToolExample[];
};

export function isExample(value: unknown): value is ToolExample {
  return (
    isRecord(value) &&
    typeof value.phrase === "string" &&
    (value.input === undefined || isRecord(value.input))
  );
}

/** Separates phrases, which MCP servers may have written into a schema, from its other examples: values for models. */
export function splitPhrases(json: JsonSchema): {
  readonly json: JsonSchema;
  readonly phrases: readonly ToolExample[];
} {
  const { examples, ...rest } = json;
  const listed: readonly unknown[] = Array.isArray(examples) ? examples : [];
  const phrases = listed.filter(isExample);
  if (phrases.length === 0) return { json, phrases };
  const values = listed.filter((example) => !isExample(example));
  return { json: values.length > 0 ? { ...rest, examples: values } : rest, phrases };
}

/** Returns the schema with the phrases in it, the form that stored digests, versions and definitions are made of. */
export function withPhrases({ schema, examples }: ToolWithExamples): JsonSchema {
  return examples ? { ...schema.json, examples } : schema.json;
}

const examplesByTools = new WeakMap<ReadonlyMap<string, ToolWithExamples>, { examples?: ExamplesByTool }>();

/** Returns the examples of the tools that have some; undefined if none has. */
export function listExamples(tools: ReadonlyMap<string, ToolWithExamples>): ExamplesByTool | undefined {
  let known = examplesByTools.get(tools);
  if (!known) {
    const listed = [...tools].flatMap(([name, { examples }]) =>
      examples ? [[name, examples] as const] : [],
    );
    known = listed.length > 0 ? { examples: Object.fromEntries(listed) } : {};
    examplesByTools.set(tools, known);
  }
  return known.examples;
}
