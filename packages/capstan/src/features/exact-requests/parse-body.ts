import { isRecord } from "../../base/json.ts";
import type { ToolSpec } from "../../kernel/model.ts";
import type { JsonSchema } from "../../schema/schema.ts";

/** The parts of a request body that all providers have in some form. */
export type ParsedBody = { readonly instructions?: string; readonly tools?: readonly ToolSpec[] };

/**
 * Reads the instructions and the tools of a request from its body, in the format of any known API. Returns what it finds:
 * nothing for a body of another format.
 */
export function parseBody(text: string): ParsedBody {
  const body = tryParse(text);
  if (!isRecord(body)) return {};
  const instructions = findInstructions(body);
  const tools = findTools(body);
  return { ...(instructions !== undefined && { instructions }), ...(tools && { tools }) };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Fields = { readonly [name: string]: unknown };

/** Anthropic: `system`; Gemini: `systemInstruction`; Responses: `instructions`; chat: the first message. */
function findInstructions(body: Fields): string | undefined {
  const direct = body.instructions ?? body.system ?? body.systemInstruction ?? body.system_instruction;
  if (direct !== undefined) return joinPartTexts(direct);
  const [first] = Array.isArray(body.messages) ? body.messages : Array.isArray(body.input) ? body.input : [];
  const isFirst = isRecord(first) && (first.role === "system" || first.role === "developer");
  return isFirst ? joinPartTexts(first.content) : undefined;
}

function joinPartTexts(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const parts = isRecord(value) ? value.parts : value;
  if (!Array.isArray(parts)) return undefined;
  return parts
    .flatMap((part) => (isRecord(part) && typeof part.text === "string" ? [part.text] : []))
    .join("");
}

function findTools(body: Fields): readonly ToolSpec[] | undefined {
  if (!Array.isArray(body.tools)) return undefined;
  return body.tools.flatMap((tool) => {
    if (!isRecord(tool)) return [];
    const declared = tool.functionDeclarations ?? tool.function_declarations;
    return (Array.isArray(declared) ? declared : [tool.function ?? tool]).flatMap(toSpec);
  });
}

function toSpec(tool: unknown): readonly ToolSpec[] {
  if (!isRecord(tool) || typeof tool.name !== "string") return [];
  const { name, description = "" } = tool;
  const input = tool.input ?? tool.parameters ?? tool.input_schema ?? tool.parametersJsonSchema;
  if (!isRecord(input)) return []; // a tool that the provider executes
  return [{ name, description: String(description), input: input as JsonSchema }];
}
