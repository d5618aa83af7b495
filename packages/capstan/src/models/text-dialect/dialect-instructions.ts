import { isRecord, type Json } from "../../base/json.ts";
import type { ModelRequest, ToolSpec } from "../../kernel/model.ts";
import type { ToolChoice } from "../../kernel/settings/settings.ts";
import { toList } from "../wire.ts";
import { quoteMarkers } from "./call-head.ts";

const choiceInstructions: Readonly<Record<Extract<ToolChoice, string>, string>> = {
  auto: "Respond with tool calls if you need more information, or with your final answer if you have enough. When you have all you need, give your final answer without tool calls.",
  required: "You must call at least one tool in this response; do not give a final answer yet.",
  none: "Do not call any tool in this response: give your answer in words, without tool calls.",
};

/** Appends the tool descriptions to the instructions; returns them unchanged without tools. */
export function buildInstructions({ instructions, tools, settings }: ModelRequest): string {
  const [first] = tools;
  if (!first) return instructions;
  const count =
    settings?.parallelToolCalls === false
      ? "Write one call at a time."
      : "You may write several calls, one after the other.";
  const section = `You have access to the following tools.

AVAILABLE TOOLS:
${tools.map(describeTool).join("\n")}

When you need a tool, write, at the beginning of a line and outside of any code block:
TOOL_CALL: <tool_name>
ARGUMENTS: <json_arguments>

Example:
TOOL_CALL: ${first.name}
ARGUMENTS: ${JSON.stringify(buildExample(first.input, 4))}

${count} Then stop: the results come in the next message, as TOOL_RESULT. Never write a TOOL_RESULT yourself. What you write as [Thinking: ...] is not shown.`;
  return instructions ? `${instructions}\n\n${section}` : section;
}

/** Closes a prompt with a section of history. */
export const sectionChoice = `Respond with either:
1. TOOL_CALL: <name> + ARGUMENTS: <json> if you need more information
2. Your final answer if you have enough information`;

/** Returns the instruction to call a tool or to answer. */
export function formatChoice(choice: ToolChoice): string {
  if (typeof choice === "string") return choiceInstructions[choice];
  return `You must call ${choice.tool} in this response; do not give a final answer yet.`;
}

const descriptions = new WeakMap<ToolSpec, string>();

function describeTool(tool: ToolSpec): string {
  const known = descriptions.get(tool);
  if (known !== undefined) return known;
  const text = `- ${tool.name}: ${quoteMarkers(tool.description)}\n  Parameters: ${JSON.stringify(tool.input)}`;
  descriptions.set(tool, text);
  return text;
}

/** Builds a value that fits the schema, to show the syntax. */
function buildExample(schema: unknown, depth: number): Json {
  if (!isRecord(schema)) return {};
  const { const: fixed, default: usual, examples, enum: values } = schema;
  const given = [fixed, usual, ...toList(examples), ...toList(values)].find((value) => value !== undefined);
  if (given !== undefined) return given as Json;
  const [alternative] = [...toList(schema.anyOf), ...toList(schema.oneOf)];
  if (alternative !== undefined && depth > 0) return buildExample(alternative, depth - 1);
  const [type] = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (type === "string") return "...";
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 1;
  if (type === "boolean") return true;
  if (type === "null") return null;
  if (type === "array") return depth > 0 && schema.items ? [buildExample(schema.items, depth - 1)] : [];
  return depth > 0 ? buildObjectExample(schema, depth) : {};
}

function buildObjectExample({ properties, required }: Record<string, unknown>, depth: number): Json {
  if (!isRecord(properties)) return {};
  const wanted = new Set(toList(required));
  const shown = Object.entries(properties).filter(([key]) => wanted.has(key));
  return Object.fromEntries(shown.map(([key, schema]) => [key, buildExample(schema, depth - 1)]));
}
